//! The extension of all running instances of a template, as the API sends it.

use launcher_domain::EmailAddress;
use launcher_service::{ClassExtension, ClassOutcome};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::rfc3339;

/// Result of the extension for one instance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClassExtensionResponse {
    /// Name of the instance in paths.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    k8s_name: String,
    /// Person who launched the instance.
    #[schema(value_type = String, example = "alice@example.org")]
    owner_email: EmailAddress,
    outcome: ClassOutcomeName,
    /// Code of the reason, if the outcome is `refused`; null otherwise.
    #[schema(required, example = "lifetime-limit-reached")]
    denied_reason: Option<&'static str>,
    /// Expiry after the request; null if the instance does not run any more.
    #[schema(required, format = DateTime, example = "2026-03-02T12:30:00.000Z")]
    expires_at: Option<String>,
}

/// Outcome for one instance. extended: it was extended until `until`. shortened: it was extended until its latest
/// possible expiry, which is before `until`. unchanged: it already lasted until `until` or longer. refused: it has
/// ended, or already had its latest possible expiry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClassOutcomeName {
    Extended,
    Shortened,
    Unchanged,
    Refused,
}

impl From<ClassExtension> for ClassExtensionResponse {
    fn from(ClassExtension { k8s_name, owner_email, expires_at, outcome }: ClassExtension) -> Self {
        let (outcome, denied_reason) = match outcome {
            ClassOutcome::Extended => (ClassOutcomeName::Extended, None),
            ClassOutcome::Shortened => (ClassOutcomeName::Shortened, None),
            ClassOutcome::Unchanged => (ClassOutcomeName::Unchanged, None),
            ClassOutcome::Refused(error) => (ClassOutcomeName::Refused, Some(error.code())),
        };
        Self { k8s_name, owner_email, outcome, denied_reason, expires_at: expires_at.map(rfc3339) }
    }
}
