//! Repository that a launch adds to the course material of its template.

use serde::{Deserialize, Serialize};

use super::field::FieldError;
use super::material::{Material, MaterialKind, MaterialSource};
use super::rule::FieldRule;
use super::settings::TemplateSettings;
use crate::source_url::SourceUrl;

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
