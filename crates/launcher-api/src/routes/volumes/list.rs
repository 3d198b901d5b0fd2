//! `GET /volumes/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::VolumeResponse;

/// List volumes
///
/// The caller's kept files, one volume per template; for an admin the volumes of all users. Newest first.
#[utoipa::path(
    get, path = "/volumes/", operation_id = "listVolumes", tag = "volumes",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "Maximum number of entries. Default: 500."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Start of the next page, from the `Link` of the previous page."),
    ),
    responses((status = 200, description = "A page of volumes.", body = [VolumeResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"`: the next page, if there is one.")))),
    extensions(("x-problems" = json!(["invalid-parameters"])))
)]
pub(crate) async fn list_volumes(
    State(state): State<AppState>,
    Identified(caller): Identified,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let query = query.finish()?;
    let mut rows = state.launcher.volumes(&caller, None, &Page { limit: page.limit + 1, ..page }).await?;
    let path = state.api_path("/volumes/");
    let next = next_page(&mut rows, &page, |listed| listed.volume.volume_id, &path, &query);
    let body: Vec<_> = rows.into_iter().map(|listed| VolumeResponse::new(&state.launcher, listed)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
