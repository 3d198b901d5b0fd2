//! Source of course material: a git repository or an archive.

use serde::{Deserialize, Serialize};

use crate::material_secret::is_secret_name;
use crate::source_url::SourceUrl;
use crate::template::rule::FieldRule;
use crate::text_enum::text_enum;

const MAX_TARGET: usize = 64;
const MAX_REFERENCE: usize = 255;
const MAX_FOLDER_BYTES: usize = 255;
const SHA256_DIGITS: usize = 64;

text_enum! {
    /// Kind of a source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum MaterialKind {
        /// Git repository.
        Git = "git",
        /// Archive: zip, tar or tar.gz.
        Archive = "archive",
    }
}

/// Source of course material. Its files appear in the directory `target`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaterialSource {
    /// Kind of the source.
    pub kind: MaterialKind,
    /// URL with the scheme `http` or `https`, without user information; at most 2,048 characters.
    pub url: String,
    /// Branch, tag or full commit id of a repository; `None` for the default branch.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// SHA-256 of an archive, in 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Relative path inside of the source: only files below it are placed. `None` for all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Name of the secret with the user name and the password for the server: see [`material_secret`](crate::material_secret). `None` for
    /// a public source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Name of the directory that gets the files.
    pub target: String,
}

impl MaterialSource {
    /// Returns the rules that this source breaks, each with the name of the field.
    #[must_use]
    pub fn broken_rules(&self) -> Vec<(&'static str, FieldRule)> {
        let Self { kind, url, reference, sha256, folder, secret, target } = self;
        let is_git = *kind == MaterialKind::Git;
        let is_reference = reference.as_deref().is_none_or(|reference| is_git && is_reference(reference));
        let is_sha256 = match sha256 {
            Some(digits) => !is_git && is_sha256(digits),
            None => is_git,
        };
        let parsed = SourceUrl::parse(url);
        // Without https, everyone on the way could read the password.
        let is_protected = secret.is_none() || parsed.as_ref().is_none_or(SourceUrl::is_https);
        let checks = [
            (parsed.is_some(), "url", FieldRule::MaterialUrl),
            (is_protected, "url", FieldRule::MaterialSecretHttps),
            (is_reference, "ref", if is_git { FieldRule::MaterialReference } else { FieldRule::MaterialOnlyGit }),
            (is_sha256, "sha256", if is_git { FieldRule::MaterialOnlyArchive } else { FieldRule::MaterialSha256 }),
            (folder.as_deref().is_none_or(is_folder), "folder", FieldRule::MaterialFolder),
            (secret.as_deref().is_none_or(is_secret_name), "secret", FieldRule::MaterialSecret),
            (is_material_target(target), "target", FieldRule::MaterialTarget),
        ];
        checks.into_iter().filter(|(holds, ..)| !holds).map(|(_, field, rule)| (field, rule)).collect()
    }
}

/// True for the name of a directory that can get the files of a source: 1 to 64 letters, digits and `._-`, not
/// beginning with a dot.
#[must_use]
pub fn is_material_target(name: &str) -> bool {
    (1..=MAX_TARGET).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// True for a branch, a tag or a commit id: the rules of git for names, without a hyphen at the beginning.
fn is_reference(reference: &str) -> bool {
    let is_allowed = |character: char| !character.is_control() && !" ~^:?*[\\".contains(character);
    let is_component = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    reference.len() <= MAX_REFERENCE
        && reference.chars().all(is_allowed)
        && reference.split('/').all(is_component)
        && !reference.starts_with('-')
        && !reference.ends_with('.')
        && !reference.contains("..")
        && !reference.contains("@{")
}

fn is_sha256(digits: &str) -> bool {
    digits.len() == SHA256_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_folder(folder: &str) -> bool {
    let is_part = |part: &str| !["", ".", ".."].contains(&part) && !part.eq_ignore_ascii_case(".git");
    folder.len() <= MAX_FOLDER_BYTES
        && folder.split('/').all(is_part)
        && !folder.contains(|character: char| character.is_control() || character == '\\')
}
