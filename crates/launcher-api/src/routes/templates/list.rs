//! `GET /templates/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopTemplateResponse;

/// List templates
///
/// Every user may call it. Users get the active templates that are not unlisted, admins get all templates. Newest first.
/// `command`, `args` and `env` are empty unless the caller is an admin.
#[utoipa::path(
    get, path = "/templates/", operation_id = "listTemplates", tag = "templates",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "Maximum number of entries. Default: 500."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Start of the next page, from the `Link` of the previous page."),
    ),
    responses((status = 200, description = "A page of templates.", body = [WorkshopTemplateResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"`: the next page, if there is one.")))),
    extensions(("x-problems" = json!(["invalid-parameters"])))
)]
pub(crate) async fn list_templates(
    State(state): State<AppState>,
    Identified(caller): Identified,
    manager: Result<Allowed<ManageTemplates>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let query = query.finish()?;
    let mut rows = state.launcher.templates(&caller, &Page { limit: page.limit + 1, ..page }).await?;
    let path = state.api_path("/templates/");
    let next = next_page(&mut rows, &page, |template| template.template_id, &path, &query);
    let manager = manager.as_ref().ok();
    let body: Vec<_> = rows.into_iter().map(|row| WorkshopTemplateResponse::new(row, manager)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
