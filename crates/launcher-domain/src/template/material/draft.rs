//! Course material as an admin writes it, and its validation.

use serde::{Deserialize, Serialize};

use super::content::{MAX_MATERIAL_SOURCES, Material};
use super::source::{MaterialKind, MaterialSource};
use crate::source_url::SourceUrl;
use crate::template::app_type::AppType;
use crate::template::field_error::Errors;
use crate::template::rule::FieldRule;
use crate::template::storage::{Storage, is_mount_path};

const MAX_PREFIXES: usize = 10;

/// Course material as an admin writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialDraft {
    /// Directory of the app that gets the material. The default is the path of the storage, or the home directory of the
    /// stock image; a `custom` app without storage requires a directory. With storage, only its path is allowed.
    #[serde(default)]
    pub directory: Option<String>,
    /// Sources, 1 to 5. Can be empty if `allowed_repositories` is not.
    #[serde(default)]
    pub sources: Vec<MaterialSourceDraft>,
    /// Prefixes of the URLs of repositories that a link can name, at most 10.
    #[serde(default)]
    pub allowed_repositories: Vec<String>,
}

/// Source of course material as an admin writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialSourceDraft {
    /// Kind of the source.
    pub kind: MaterialKind,
    /// URL with the scheme `http` or `https`, without user information.
    pub url: String,
    /// Branch, tag or full commit id of a repository. The default is the repository's default branch.
    #[serde(default, rename = "ref")]
    pub reference: Option<String>,
    /// SHA-256 of the archive, in 64 hexadecimal digits. An archive requires it.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Relative path inside of the source: only files below it are placed.
    #[serde(default)]
    pub folder: Option<String>,
    /// Name of the secret with the user name and the password for the server, for a private source with the scheme
    /// `https`.
    #[serde(default)]
    pub secret: Option<String>,
    /// Name of the directory that gets the files. No two sources have the same.
    pub target: String,
}

impl MaterialDraft {
    /// Returns the material; `None` after an error, and for material without a source and a prefix.
    pub(in crate::template) fn validated(
        self,
        app_type: AppType,
        storage: Option<&Storage>,
        errors: &mut Errors,
    ) -> Option<Material> {
        let allowed_repositories = prefixes(self.allowed_repositories, errors);
        let sources: Vec<_> = self.sources.into_iter().map(MaterialSource::from).collect();
        let least = usize::from(allowed_repositories.is_empty());
        let is_count = (least..=MAX_MATERIAL_SOURCES).contains(&sources.len());
        errors.check(is_count, "/material/sources", FieldRule::MaterialSourceCount);
        for (place, source) in sources.iter().enumerate() {
            for (field, rule) in source.broken_rules() {
                errors.add(format!("/material/sources/{place}/{field}"), rule);
            }
            let has_same_target = |earlier: &MaterialSource| earlier.target.eq_ignore_ascii_case(&source.target);
            if sources.iter().take(place).any(has_same_target) {
                let rule = FieldRule::MaterialTargetRepeated { target: source.target.clone() };
                errors.add(format!("/material/sources/{place}/target"), rule);
            }
        }
        let directory = directory(self.directory.as_deref(), app_type, storage, errors)?;
        Some(Material { directory, sources, allowed_repositories })
    }
}

impl From<MaterialSourceDraft> for MaterialSource {
    /// Removes white space and empty values.
    fn from(draft: MaterialSourceDraft) -> Self {
        let MaterialSourceDraft { kind, url, reference, sha256, folder, secret, target } = draft;
        Self {
            kind,
            url: url.trim().to_owned(),
            reference: text(reference),
            sha256: text(sha256).map(|digits| digits.to_ascii_lowercase()),
            folder: text(folder).map(|folder| folder.trim_end_matches('/').to_owned()),
            secret: text(secret),
            target: target.trim().to_owned(),
        }
    }
}

impl From<MaterialSource> for MaterialSourceDraft {
    fn from(source: MaterialSource) -> Self {
        let MaterialSource { kind, url, reference, sha256, folder, secret, target } = source;
        Self { kind, url, reference, sha256, folder, secret, target }
    }
}

impl From<Material> for MaterialDraft {
    fn from(material: Material) -> Self {
        let Material { directory, sources, allowed_repositories } = material;
        let sources = sources.into_iter().map(MaterialSourceDraft::from).collect();
        Self { directory: Some(directory), sources, allowed_repositories }
    }
}

fn text(given: Option<String>) -> Option<String> {
    given.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn prefixes(given: Vec<String>, errors: &mut Errors) -> Vec<String> {
    let pointer = "/material/allowed_repositories";
    errors.check(given.len() <= MAX_PREFIXES, pointer, FieldRule::MaterialPrefixCount);
    let prefixes: Vec<_> = given.into_iter().map(|prefix| prefix.trim().to_owned()).collect();
    for (place, prefix) in prefixes.iter().enumerate() {
        let is_prefix = SourceUrl::parse(prefix).is_some_and(|url| url.is_https() && url.is_plain());
        errors.check(is_prefix, &format!("{pointer}/{place}"), FieldRule::MaterialPrefix);
    }
    prefixes
}

fn directory(given: Option<&str>, app_type: AppType, storage: Option<&Storage>, errors: &mut Errors) -> Option<String> {
    let pointer = "/material/directory";
    let given = given.map(str::trim).filter(|path| !path.is_empty()).map(|path| path.trim_end_matches('/'));
    let default = storage.map(|storage| storage.path.as_str()).or(app_type.home());
    let Some(directory) = given.or(default) else {
        errors.add(pointer, FieldRule::MaterialDirectoryRequired);
        return None;
    };
    errors.check(is_mount_path(directory), pointer, FieldRule::StoragePath);
    let is_of_storage = storage.is_none_or(|storage| storage.path == directory);
    errors.check(is_of_storage, pointer, FieldRule::MaterialDirectoryOfStorage);
    Some(directory.to_owned())
}
