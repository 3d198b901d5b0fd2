//! `GET /activity/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Auditor;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::ActivityResponse;

/// List the activity log
///
/// Who launched, extended, ended, changed what. For administrators. Newest first; kept as long as the history of ended
/// instances.
#[utoipa::path(
    get, path = "/activity/", operation_id = "listActivity", tag = "activity",
    params(
        ("person" = Option<String>, Query, min_length = 3, max_length = 254, pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only what this person did, and what happened to this person's instances."),
        ("subject" = Option<String>, Query, pattern = "^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$|^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
            description = "Only of the instance with this name, or of the template with this UUID."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "At most so many; 500 when left out."),
        ("cursor" = Option<String>, Query, pattern = "^[0-7][0-9a-f]{15}$",
            description = "Where the next page begins, as it stands in the `Link` of the page before."),
    ),
    responses((status = 200, description = "A page of the log.", body = [ActivityResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"` leads to the next page, when there is one.")))),
    extensions(("x-problems" = json!(["admin-only", "invalid-parameters"])))
)]
pub(crate) async fn list_activity(
    State(state): State<AppState>,
    Auditor(caller): Auditor,
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
