//! Validated course material.

use serde::{Deserialize, Serialize};

use super::source::MaterialSource;
use crate::source_url::SourceUrl;

/// Maximum sources of a template. A launch from a link can add one more.
pub const MAX_MATERIAL_SOURCES: usize = 5;

/// Validated course material of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Material {
    /// Directory of the app in which each source has its own directory. With storage, the path of the storage.
    pub directory: String,
    /// Sources, at most 5. Empty only if links can name a repository.
    pub sources: Vec<MaterialSource>,
    /// Prefixes of the URLs of repositories that a link can name, at most 10.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_repositories: Vec<String>,
}

impl Material {
    /// True if a link can name a repository with this URL.
    #[must_use]
    pub fn allows_repository(&self, url: &SourceUrl) -> bool {
        let mut prefixes = self.allowed_repositories.iter().filter_map(|prefix| SourceUrl::parse(prefix));
        prefixes.any(|prefix| url.begins_with(&prefix))
    }
}
