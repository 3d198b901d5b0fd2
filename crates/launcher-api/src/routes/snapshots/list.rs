//! `GET /snapshots/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::permission::{Allowed, ListAllVolumes};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::SnapshotResponse;

/// List snapshots
///
/// The saved files of the caller's ended workshops; for an admin the snapshots of all users. Newest first.
#[utoipa::path(
    get, path = "/snapshots/", operation_id = "listSnapshots", tag = "snapshots",
    params(
        ("owner_email" = Option<String>, Query, min_length = 3, max_length = 254, pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only snapshots of this person. Only admins may send it."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "Maximum number of entries. Default: 500."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Start of the next page, from the `Link` of the previous page."),
    ),
    responses((status = 200, description = "A page of snapshots.", body = [SnapshotResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"`: the next page, if there is one.")))),
    extensions(("x-problems" = json!(["admin-only", "invalid-parameters"])))
)]
pub(crate) async fn list_snapshots(
    State(state): State<AppState>,
    Identified(caller): Identified,
    lists_all: Result<Allowed<ListAllVolumes>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let owner = query.owner(lists_all)?;
    let query = query.finish()?;
    let one_more = Page { limit: page.limit + 1, ..page };
    let mut rows = state.launcher.snapshots(&caller, owner.as_ref(), &one_more).await?;
    let path = state.api_path("/snapshots/");
    let next = next_page(&mut rows, &page, |snapshot| snapshot.snapshot_id, &path, &query);
    let body: Vec<_> = rows.into_iter().map(|snapshot| SnapshotResponse::new(&state.launcher, snapshot)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
