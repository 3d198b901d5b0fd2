//! An entry of the activity log as the API sends it.

use launcher_domain::{Activity, EmailAddress};
use launcher_service::LoggedActivity;
use serde::Serialize;
use utoipa::ToSchema;

use super::named::ActivityActionName;
use super::time::rfc3339;

/// An entry of the activity log, with the names at the time of the action.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActivityResponse {
    /// Increases with each entry.
    #[schema(example = 4711, minimum = 1)]
    activity_id: i64,
    /// Time of the action.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    at: String,
    /// Person who acted; null if the service acted.
    #[schema(required, value_type = Option<String>, example = "alice@example.org")]
    actor_email: Option<EmailAddress>,
    #[schema(value_type = ActivityActionName)]
    action: &'static str,
    /// Subject of the action: an instance's `k8s_name`, a `template_id`, or a volume's name.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    subject: String,
    /// Name of the template; for an instance or a volume, the name of its template. Empty for a volume that templates
    /// share.
    #[schema(example = "Statistics 101")]
    subject_name: String,
    /// Owner of the instance or volume; null for a template.
    #[schema(required, value_type = Option<String>, example = "alice@example.org")]
    owner_email: Option<EmailAddress>,
    /// `extended`: the new `expires_at`. `ended`: the `end_reason`. `failed`: the code of the `reason`.
    /// `template-changed`, `template-archived`, `template-restored`: the names of the changed fields, separated by
    /// commas. Null for all other actions.
    #[schema(required, example = "2026-03-02T11:00:12.345Z")]
    detail: Option<String>,
}

impl From<LoggedActivity> for ActivityResponse {
    fn from(LoggedActivity { activity_id, activity }: LoggedActivity) -> Self {
        let Activity { act, action, subject, subject_name, owner_email, detail } = activity;
        Self {
            activity_id,
            at: rfc3339(act.at),
            actor_email: act.actor_email,
            action: action.as_str(),
            subject,
            subject_name,
            owner_email,
            detail,
        }
    }
}
