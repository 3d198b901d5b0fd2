//! Course material of a template: files that are in the workshop's directory when it opens. A launch can add a repository.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::codecs::{MountPath, list_codec, text_codec};
use super::field::{Audience, Codec, Errors, FieldError, JsonObject, items, json_object};
use super::rule::FieldRule;
use super::settings::TemplateSettings;
use crate::material_source::SourceUrl;
use crate::names::is_dns_label;
use crate::template::settings::{AppType, Storage};
use crate::text_enum::text_enum;

/// Maximum sources of a template. A launch from a link can add one more.
pub const MAX_MATERIAL_SOURCES: usize = 5;
const MAX_PREFIXES: usize = 10;
const MAX_TARGET: usize = 64;
const MAX_REFERENCE: usize = 255;
const MAX_FOLDER_BYTES: usize = 255;
const SHA256_DIGITS: usize = 64;

text_enum! {
    /// Kind of a source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum MaterialKind {
        /// Git repository.
        Git = "git",
        /// Archive: zip, tar or tar.gz.
        Archive = "archive",
    }
}

json_object! {
    /// Course material: files that are in the workshop's directory when it opens. A failed download does not fail the
    /// launch.
    pub struct Material {
        /// Sources, with different targets. At least one, unless allowed_repositories has an entry.
        sources: Vec<MaterialSource> = defaulted(Sources, json!([])),
        /// Prefixes of the URLs of repositories that a link can name, with the scheme https. A prefix ends at a whole
        /// segment of the path.
        allowed_repositories: Vec<String> = defaulted(Prefixes, json!([])),
        /// Directory of the app in which each source has its own directory. With storage, only its path is allowed.
        directory: String = computed(
            MountPath,
            FieldRule::MaterialDirectoryRequired,
            &format!("Default: the path of the storage. Without storage: {}", AppType::defaults(AppType::home))
        ),
    }
}

json_object! {
    /// Source of course material. Its files appear in the directory `target`.
    pub struct MaterialSource {
        /// git: a repository. archive: a zip, tar or tar.gz file.
        kind: MaterialKind = required(MaterialKind),
        /// URL with the scheme http or https, without user information.
        url: String = required(Address),
        /// Branch, tag or full commit id of a repository. null: the default branch. Not for archives.
        reference as "ref": Option<String> = optional_text(Reference),
        /// SHA-256 of an archive. Required for archives, and not for repositories.
        sha256: Option<String> = optional_text(Sha256),
        /// Relative path inside of the source, without `..`: only files below it are placed. null: all files.
        folder: Option<String> = optional_text(Folder),
        /// Name of the secret with the user name and the password for the server of a private source, whose URL begins
        /// with https. An administrator of the installation creates it. Never the password itself. null: the source is
        /// public.
        secret: Option<String> = optional_text(Secret),
        /// Name of the directory that gets the files.
        target: String = required(Target),
    }
}

text_codec! {
    Prefix, { "type": "string", "maxLength": 2048, "pattern": "^[Hh][Tt][Tt][Pp][Ss]://[^@#?\\\\]+$",
              "examples": ["https://git.example.org/statistics/"] },
    MaterialPrefix if not |prefix| SourceUrl::parse(prefix).is_some_and(|url| url.is_https() && url.is_plain())
}

list_codec! {
    Prefixes of Prefix, MAX_PREFIXES, MaterialPrefixCount
}

// The rules of the texts below depend on each other: `MaterialSource::broken_rules` checks them.
text_codec! {
    /// URL of a source.
    Address, { "type": "string", "minLength": 8, "maxLength": 2048, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^@#\\\\]+$",
               "examples": ["https://git.example.org/statistics/101.git"] }
}
text_codec! {
    /// Branch, tag or commit id.
    Reference, { "type": "string", "maxLength": MAX_REFERENCE, "examples": ["main"] }
}
text_codec! {
    /// SHA-256 in hexadecimal digits.
    Sha256, { "type": "string", "pattern": "^([0-9A-Fa-f]{64})?$" }
}
text_codec! {
    /// Relative path.
    Folder, { "type": "string", "maxLength": MAX_FOLDER_BYTES, "examples": ["week1"] }
}
text_codec! {
    /// Name of a secret.
    Secret, { "type": "string", "pattern": "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$", "examples": ["statistics"] }
}
text_codec! {
    /// Name of a directory.
    Target, { "type": "string", "minLength": 1, "maxLength": MAX_TARGET, "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]*$",
              "examples": ["statistics-101"] }
}

impl Material {
    /// True if a link can name a repository with this URL.
    #[must_use]
    pub fn allows_repository(&self, url: &SourceUrl) -> bool {
        let mut prefixes = self.allowed_repositories.iter().filter_map(|prefix| SourceUrl::parse(prefix));
        prefixes.any(|prefix| url.begins_with(&prefix))
    }

    /// Checks the rules that need more than one field.
    pub(super) fn check(&self, storage: Option<&Storage>, errors: &mut Errors) {
        let Self { directory, sources, allowed_repositories } = self;
        let least = usize::from(allowed_repositories.is_empty());
        let is_count = (least..=MAX_MATERIAL_SOURCES).contains(&sources.len());
        errors.check(is_count || errors.has("/material/sources"), "/material/sources", FieldRule::MaterialSourceCount);
        let is_of_storage = storage.is_none_or(|storage| storage.path == *directory || errors.has("/storage/path"));
        if !is_of_storage {
            errors.add_first("/material/directory", FieldRule::MaterialDirectoryOfStorage);
        }
    }
}

enum Sources {}

impl Codec for Sources {
    type Value = Vec<MaterialSource>;

    fn read(json: &Value, at: &str, errors: &mut Errors) -> Option<Vec<MaterialSource>> {
        let mut sources = items::<MaterialSource>(json, at, errors)?;
        sources.iter_mut().for_each(MaterialSource::normalise);
        for (place, source) in sources.iter().enumerate() {
            let at = format!("{at}/{place}");
            let is_of_unknown_kind = errors.has(&format!("{at}/kind"));
            for (field, rule) in source.broken_rules() {
                if !(is_of_unknown_kind && ["ref", "sha256"].contains(&field)) {
                    errors.add_first(&format!("{at}/{field}"), rule);
                }
            }
            let has_same_target = |earlier: &MaterialSource| earlier.target.eq_ignore_ascii_case(&source.target);
            if sources.iter().take(place).any(has_same_target) {
                let rule = FieldRule::MaterialTargetRepeated { target: source.target.clone() };
                errors.add_first(&format!("{at}/target"), rule);
            }
        }
        Some(sources)
    }

    fn schema(audience: Audience) -> Value {
        let items = MaterialSource::schema(audience);
        json!({ "type": "array", "maxItems": MAX_MATERIAL_SOURCES, "items": items })
    }
}

impl MaterialSource {
    /// Reads a source that is to be checked: its target and the SHA-256 of an archive may be absent.
    ///
    /// # Errors
    /// All errors, each with its location; never empty.
    pub fn read_to_check(body: &JsonObject) -> Result<Self, Vec<FieldError>> {
        let (mut body, mut errors) = (body.clone(), Errors::default());
        body.entry("target").or_insert_with(|| "material".into());
        let mut source = <Self as Codec>::read(&body.into(), "", &mut errors).ok_or_else(|| errors.0.clone())?;
        source.normalise();
        for (field, rule) in source.broken_rules() {
            if !(rule == FieldRule::MaterialSha256 && source.sha256.is_none()) {
                errors.add_first(&format!("/{field}"), rule);
            }
        }
        if source.secret.is_some() {
            errors.add_first("/secret", FieldRule::MaterialSecretUnchecked);
        }
        if errors.0.is_empty() { Ok(source) } else { Err(errors.0) }
    }

    /// Returns the JSON schema (2020-12) of a source that is to be checked.
    #[must_use]
    pub fn schema_to_check() -> Value {
        let mut schema = Self::schema(Audience::Request);
        schema["required"] = json!(["kind", "url"]);
        schema["examples"] = json!([{ "kind": "git", "url": "https://git.example.org/statistics/101.git" }]);
        schema
    }

    /// Returns the source in its normal form: digits in lower case, and a folder without a slash at its end.
    pub(super) fn normalise(&mut self) {
        self.sha256 = self.sha256.take().map(|digits| digits.to_ascii_lowercase());
        self.folder = self.folder.take().map(|folder| folder.trim_end_matches('/').to_owned());
    }

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
            (secret.as_deref().is_none_or(is_dns_label), "secret", FieldRule::MaterialSecret),
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

/// Repository that a launch names, as the user's link has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryDraft {
    /// URL. It must begin with a prefix that the template allows.
    pub url: String,
    /// Branch, tag or full commit id. The default is the repository's default branch.
    #[serde(default, rename = "ref")]
    pub reference: Option<String>,
    /// Relative path inside of the repository: only files below it are placed.
    #[serde(default)]
    pub folder: Option<String>,
}

impl TemplateSettings {
    /// Returns the settings of an instance whose launch names a repository. The repository becomes the last source of
    /// the material. The last segment of its address, without `.git`, names its directory.
    ///
    /// # Errors
    /// All errors of the repository. The template may not allow it, or another source has the same directory.
    pub fn with_repository(&self, repository: RepositoryDraft) -> Result<Self, Vec<FieldError>> {
        let mut settings = self.clone();
        let not_allowed = || vec![at_url(FieldRule::RepositoryNotAllowed)];
        settings.material.as_mut().ok_or_else(not_allowed)?.add(repository)?;
        Ok(settings)
    }

    /// Returns the repository that a launch added to the material of the template; `None` if the template has this source, or
    /// no longer allows it.
    #[must_use]
    pub fn added_repository(&self, template: &Self) -> Option<RepositoryDraft> {
        let source = self.material.as_ref()?.sources.last()?;
        let mut own = template.material.iter().flat_map(|material| &material.sources);
        if own.any(|own| own.target == source.target) || source.kind != MaterialKind::Git {
            return None;
        }
        let MaterialSource { url, reference, folder, .. } = source.clone();
        let repository = RepositoryDraft { url, reference, folder };
        template.with_repository(repository.clone()).is_ok().then_some(repository)
    }
}

impl Material {
    /// Adds a repository that a launch names.
    fn add(&mut self, RepositoryDraft { url, reference, folder }: RepositoryDraft) -> Result<(), Vec<FieldError>> {
        let parsed = SourceUrl::parse(url.trim()).filter(|url| self.allows_repository(url));
        let Some(parsed) = parsed else { return Err(vec![at_url(FieldRule::RepositoryNotAllowed)]) };
        let target = parsed.repository_name().unwrap_or_default().to_owned();
        let kind = MaterialKind::Git;
        // A link never names a secret: its author could choose the server that gets the password.
        let (sha256, secret) = (None, None);
        let text = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let (url, reference, folder) = (url.trim().to_owned(), text(reference), text(folder));
        let mut source = MaterialSource { kind, url, reference, sha256, folder, secret, target };
        source.normalise();
        let mut errors: Vec<FieldError> = source.broken_rules().into_iter().map(of_repository).collect();
        if self.sources.iter().any(|other| other.target.eq_ignore_ascii_case(&source.target)) {
            errors.push(at_url(FieldRule::MaterialTargetRepeated { target: source.target.clone() }));
        }
        self.sources.push(source);
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// The target comes from the URL, so its error belongs to the URL.
fn of_repository((field, rule): (&'static str, FieldRule)) -> FieldError {
    let field = if field == "target" { "url" } else { field };
    FieldError::new(format!("/repository/{field}"), rule)
}

fn at_url(rule: FieldRule) -> FieldError {
    FieldError::new("/repository/url", rule)
}
