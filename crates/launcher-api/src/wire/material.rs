//! Report about the course material of an instance, as the API sends it.

use launcher_domain::SourceReport;
use serde::Serialize;
use utoipa::ToSchema;

use super::named::MaterialOutcomeName;

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

impl From<&SourceReport> for SourceReportResponse {
    fn from(report: &SourceReport) -> Self {
        let SourceReport { target, outcome, version, conflicts, conflict_count, message } = report.clone();
        Self { target, outcome: outcome.as_str(), version, conflicts, conflict_count, message }
    }
}
