//! Course material of a template, and the report about it of an instance, as the API sends them.

use launcher_domain::{Material, MaterialSource, SourceReport};
use serde::Serialize;
use utoipa::ToSchema;

use super::named::{MaterialKindName, MaterialOutcomeName};

/// Course material: files that are in the workshop's directory when it opens.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MaterialResponse {
    /// Directory of the app in which each source has its own directory.
    #[schema(example = "/home/jovyan")]
    directory: String,
    /// Sources, at most 5.
    sources: Vec<MaterialSourceResponse>,
    /// Prefixes of the URLs of repositories that a link can name.
    #[schema(example = json!(["https://git.example.org/statistics/"]))]
    allowed_repositories: Vec<String>,
}

/// Source of course material.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MaterialSourceResponse {
    #[schema(value_type = MaterialKindName)]
    kind: &'static str,
    /// URL of the repository or of the archive.
    #[schema(example = "https://git.example.org/statistics/101.git")]
    url: String,
    /// Branch, tag or full commit id of a repository. null: the default branch.
    #[schema(required, example = "main")]
    #[serde(rename = "ref")]
    reference: Option<String>,
    /// SHA-256 of an archive.
    #[schema(required)]
    sha256: Option<String>,
    /// Relative path inside of the source: only files below it are placed. null: all files.
    #[schema(required, example = "week1")]
    folder: Option<String>,
    /// Name of the secret with the user name and the password for the server. null: the source is public.
    #[schema(required, example = "statistics")]
    secret: Option<String>,
    /// Name of the directory that gets the files.
    #[schema(example = "statistics-101")]
    target: String,
}

/// Report about one source of course material.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceReportResponse {
    /// Directory of the source's files.
    #[schema(example = "statistics-101")]
    target: String,
    #[schema(value_type = MaterialOutcomeName)]
    outcome: &'static str,
    /// Commit id of the repository, or SHA-256 of the archive.
    #[schema(required)]
    version: Option<String>,
    /// Files that both the teacher and the user changed, at most 10. The user's files are unchanged.
    #[schema(example = json!(["week1/exercise.ipynb"]))]
    conflicts: Vec<String>,
    /// Number of all files that both changed.
    #[schema(example = 1)]
    conflict_count: u32,
    /// English remark or reason of the failure.
    #[schema(required)]
    message: Option<String>,
}

impl From<Material> for MaterialResponse {
    fn from(Material { directory, sources, allowed_repositories }: Material) -> Self {
        let sources = sources.into_iter().map(MaterialSourceResponse::from).collect();
        Self { directory, sources, allowed_repositories }
    }
}

impl From<MaterialSource> for MaterialSourceResponse {
    fn from(source: MaterialSource) -> Self {
        let MaterialSource { kind, url, reference, sha256, folder, secret, target } = source;
        Self { kind: kind.as_str(), url, reference, sha256, folder, secret, target }
    }
}

impl From<&SourceReport> for SourceReportResponse {
    fn from(report: &SourceReport) -> Self {
        let SourceReport { target, outcome, version, conflicts, conflict_count, message } = report.clone();
        Self { target, outcome: outcome.as_str(), version, conflicts, conflict_count, message }
    }
}
