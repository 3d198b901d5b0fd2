//! `/activity`: the activity log.

use axum::response::Response;
use launcher_domain::Activity;
use launcher_service::LoggedActivity;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::extract::{ListQuery, list_page};
use crate::permission::{Allowed, ReadActivities};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::wire::{ActivityActionName, rfc3339};

pub(super) fn routes() -> Routes {
    vec![routes!(list_activity)]
}

/// List the activity log
///
/// Only admins may call it. The actions of users and of the service, newest first. Entries are kept as long as the history
/// of ended instances.
#[utoipa::path(get, path = "/activity/", operation_id = "listActivity", tag = "activity",
    params(("person" = Option<String>, Query, min_length = 3, max_length = 254,
            pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only actions of this person, and actions on this person's instances."),
        ("subject" = Option<String>, Query,
            pattern = "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$|^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
            description = "Only actions on the instance with this name, or on the template with this UUID."),
        ("cursor" = Option<String>, Query, pattern = "^[0-7][0-9a-f]{15}$",
            description = "Start of the next page, from the `Link` of the previous page.")),
    responses((status = 200, description = "A page of the log.", body = [ActivityResponse])),
    extensions(("x-parameters" = json!(["limit"])), ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn list_activity(call: Allowed<ReadActivities>, mut query: ListQuery) -> Result<Response, Problem> {
    let page = query.page()?;
    let filter = query.activity_filter()?;
    let path = query.finish(&call, "/activity/")?;
    let rows = call.launcher.activities(&call.caller, &filter, &page).await?;
    Ok(list_page(rows, &page, &path, |entry| entry.activity_id, ActivityResponse::from))
}

/// An entry of the activity log, with the names at the time of the action.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActivityResponse {
    /// Increases with each entry.
    #[schema(example = 4711, minimum = 1)]
    activity_id: i64,
    /// Time of the action.
    at: String,
    /// Person who acted; null if the service acted.
    actor_email: Option<String>,
    action: ActivityActionName,
    /// Subject of the action: an instance's `k8s_name`, a `template_id`, or a volume's name.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    subject: String,
    /// Name of the template; for an instance or a volume, the name of its template. Empty for a volume that templates
    /// share.
    #[schema(example = "Statistics 101")]
    subject_name: String,
    /// Owner of the instance or volume; null for a template.
    owner_email: Option<String>,
    /// `extended`: the new `expires_at`. `extended-beyond-maximum`: the new `expires_at`, a space, and the seconds beyond the
    /// maximum lifetime. `maximum-raised`: the new maximum lifetime in seconds. `ended`: the `end_reason`. `failed`: the code of the `reason`.
    /// `template-changed`, `template-archived`, `template-restored`: the names of the changed fields, separated by
    /// commas. Null for all other actions.
    #[schema(example = "2026-03-02T11:00:12.345Z")]
    detail: Option<String>,
}

impl From<LoggedActivity> for ActivityResponse {
    fn from(LoggedActivity { activity_id, activity }: LoggedActivity) -> Self {
        let Activity { act, action, subject, subject_name, owner_email, detail } = activity;
        Self {
            activity_id,
            at: rfc3339(act.at),
            actor_email: act.actor_email.map(String::from),
            action: action.into(),
            subject,
            subject_name,
            owner_email: owner_email.map(String::from),
            detail,
        }
    }
}
