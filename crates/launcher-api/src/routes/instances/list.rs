//! `GET /instances/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::{InstanceFilter, Page};

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// List instances
///
/// The caller's own; for an administrator everybody's. Newest first.
#[utoipa::path(
    get, path = "/instances/", operation_id = "listInstances", tag = "instances",
    params(
        ("state" = inline(Option<crate::openapi::StateParameter>), Query,
            description = "live: everything but terminated (default); ended: terminated; all; or one state."),
        ("owner_email" = Option<String>, Query, min_length = 3, max_length = 254, pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only this person's. For administrators."),
        ("template_id" = Option<uuid::Uuid>, Query, description = "Only this template's. For administrators."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "At most so many; 500 when left out."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Where the next page begins, as it stands in the `Link` of the page before."),
    ),
    responses((status = 200, description = "A page of instances.", body = [WorkshopInstanceResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"` leads to the next page, when there is one.")))),
    extensions(("x-problems" = json!(["admin-only", "invalid-parameters"])))
)]
pub(crate) async fn list_instances(
    State(state): State<AppState>,
    Identified(caller): Identified,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let filter_state = query.state()?;
    let (owner_email, template_id) = query.admin_filters(&caller)?;
    let query = query.finish()?;
    let filter = InstanceFilter { state: filter_state, owner_email, template_id };
    let one_more = Page { limit: page.limit + 1, ..page };
    let mut rows = state.launcher.instances(&caller, &filter, &one_more).await?;
    let path = state.api_path("/instances/");
    let next = next_page(&mut rows, &page, |listed| listed.instance.instance_id, &path, &query);
    let body: Vec<_> = rows.iter().map(|listed| WorkshopInstanceResponse::new(&state.launcher, listed)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
