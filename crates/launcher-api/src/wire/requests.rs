//! Small request bodies.

use jiff::Timestamp;
use launcher_domain::RepositoryDraft;
use serde::Deserialize;
use utoipa::ToSchema;

/// The body of a launch. The template determines what runs, and the caller's identity the owner.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchBody {
    /// Repository to add to the course material. The template must allow its URL.
    #[serde(default)]
    #[schema(value_type = Option<RepositoryBody>)]
    pub(crate) repository: Option<RepositoryDraft>,
}

/// A repository that a launch adds to the course material. Its files are in the directory that the last segment of the
/// URL names, without `.git`.
#[derive(Debug, ToSchema)]
#[schema(as = LaunchRepository)]
#[expect(dead_code, reason = "the schema of RepositoryDraft: the domain has no schemas")]
pub(crate) struct RepositoryBody {
    /// URL. It must begin with an entry of the template's `allowed_repositories`.
    #[schema(max_length = 2048, example = "https://git.example.org/statistics/exercise-1.git")]
    url: String,
    /// Branch, tag or full commit id. Default: the repository's default branch.
    #[schema(max_length = 255, example = "main")]
    r#ref: Option<String>,
    /// Relative path inside of the repository: only files below it are placed.
    #[schema(max_length = 255)]
    folder: Option<String>,
}

/// An extension of all running instances of a template.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendClassBody {
    /// Time until which the instances are extended.
    #[schema(value_type = String, format = DateTime, example = "2026-03-02T12:30:00Z")]
    pub(crate) until: Timestamp,
}

/// An extension.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendBody {
    /// The `expires_at` that the caller saw. If it has changed, the request is refused, so a double click extends once.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    pub(crate) expected_expires_at: Option<Timestamp>,
}
