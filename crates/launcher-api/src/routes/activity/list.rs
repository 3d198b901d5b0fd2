//! `GET /activity/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::permission::{Allowed, ReadActivities};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::ActivityResponse;

/// List the activity log
///
/// Only admins may call it. The actions of users and of the service, newest first. Entries are kept as long as the history
/// of ended instances.
#[utoipa::path(
    get, path = "/activity/", operation_id = "listActivity", tag = "activity",
    params(
        ("person" = Option<String>, Query, min_length = 3, max_length = 254, pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only actions of this person, and actions on this person's instances."),
        ("subject" = Option<String>, Query, pattern = "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$|^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
            description = "Only actions on the instance with this name, or on the template with this UUID."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "Maximum number of entries. Default: 500."),
        ("cursor" = Option<String>, Query, pattern = "^[0-7][0-9a-f]{15}$",
            description = "Start of the next page, from the `Link` of the previous page."),
    ),
    responses((status = 200, description = "A page of the log.", body = [ActivityResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"`: the next page, if there is one.")))),
    extensions(("x-problems" = json!(["admin-only", "invalid-parameters"])))
)]
pub(crate) async fn list_activity(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ReadActivities>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let filter = query.activity_filter()?;
    let query = query.finish()?;
    let mut rows = state.launcher.activities(&caller, &filter, &Page { limit: page.limit + 1, ..page }).await?;
    let path = state.api_path("/activity/");
    let next = next_page(&mut rows, &page, |line| line.activity_id, &path, &query);
    let body: Vec<_> = rows.into_iter().map(ActivityResponse::from).collect();
    Ok((with_link(next), Json(body)).into_response())
}
