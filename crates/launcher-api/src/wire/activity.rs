//! An entry of the activity log as sent.

use launcher_domain::{Activity, EmailAddress};
use launcher_service::LoggedActivity;
use serde::Serialize;
use utoipa::ToSchema;

use super::named::ActivityActionName;
use super::rfc3339;

/// A line of the activity log. It tells names as they were then.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActivityResponse {
    /// Grows from line to line.
    #[schema(example = 4711, minimum = 1)]
    activity_id: i64,
    /// When it was done.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    at: String,
    /// Who did it; null when it was the service itself.
    #[schema(required, value_type = Option<String>, example = "alice@example.org")]
    actor_email: Option<EmailAddress>,
    #[schema(value_type = ActivityActionName)]
    action: &'static str,
    /// To what: an instance's `k8s_name`, or a `template_id`.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    subject: String,
    /// The template's name, or of the one that the instance was launched from.
    #[schema(example = "Statistics 101")]
    subject_name: String,
    /// Whose instance it is; null for a template.
    #[schema(required, value_type = Option<String>, example = "alice@example.org")]
    owner_email: Option<EmailAddress>,
    /// `extended`: the new `expires_at`. `ended`: the `end_reason`. `failed`: the code of the `reason`.
    /// `template-changed`, `template-archived`, `template-restored`: the names of the fields that changed, with commas
    /// between them. Null where there is nothing more to say.
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
