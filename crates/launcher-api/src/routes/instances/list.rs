//! `GET /instances/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::{InstanceFilter, Page};

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::permission::{Allowed, ListAllInstances};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// List instances
///
/// The caller's own instances; for an admin all instances. Newest first. With `search`, only the newest 20,000
/// instances that match the other parameters are searched.
#[utoipa::path(
    get, path = "/instances/", operation_id = "listInstances", tag = "instances",
    params(
        ("state" = inline(Option<crate::wire::StateParameter>), Query,
            description = "live: all states except terminated (default). ended: terminated. all: all states. Or one \
                           state."),
        ("owner_email" = Option<String>, Query, min_length = 3, max_length = 254, pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only instances of this person. Only admins may send it."),
        ("template_id" = Option<uuid::Uuid>, Query,
            description = "Only instances of this template. Only admins may send it."),
        ("search" = Option<String>, Query, max_length = 100,
            description = "Only instances with this text in the owner's address, the template's name or `k8s_name`. \
                           ASCII letters match in either case. An empty text matches every instance."),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "Maximum number of entries. Default: 500."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Start of the next page, from the `Link` of the previous page."),
    ),
    responses((status = 200, description = "A page of instances.", body = [WorkshopInstanceResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"`: the next page, if there is one.")))),
    extensions(("x-problems" = json!(["admin-only", "invalid-parameters"])))
)]
pub(crate) async fn list_instances(
    State(state): State<AppState>,
    Identified(caller): Identified,
    lists_all: Result<Allowed<ListAllInstances>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let (filter_state, search) = (query.state()?, query.search()?);
    let (owner_email, template_id) = query.admin_filters(lists_all)?;
    let query = query.finish()?;
    let filter = InstanceFilter { state: filter_state, owner_email, template_id, search };
    let one_more = Page { limit: page.limit + 1, ..page };
    let mut rows = state.launcher.instances(&caller, &filter, &one_more).await?;
    let path = state.api_path("/instances/");
    let next = next_page(&mut rows, &page, |listed| listed.instance.instance_id, &path, &query);
    let body: Vec<_> = rows.iter().map(|listed| WorkshopInstanceResponse::new(&state.launcher, listed)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
