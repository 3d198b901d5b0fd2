//! `GET /templates/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use launcher_service::Page;

use crate::extract::{ListQuery, next_page, with_link};
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopTemplateResponse;

/// List templates
///
/// The active ones; for an administrator also the archived ones. Newest first. `command`, `args` and `env` are empty unless
/// the caller is an administrator.
#[utoipa::path(
    get, path = "/templates/", operation_id = "listTemplates", tag = "templates",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "At most so many; 500 when left out."),
        ("cursor" = Option<String>, Query, pattern = "^[0-9a-f]{32}$",
            description = "Where the next page begins, as it stands in the `Link` of the page before."),
    ),
    responses((status = 200, description = "A page of templates.", body = [WorkshopTemplateResponse],
        headers(("Link" = Option<String>, description = "`rel=\"next\"` leads to the next page, when there is one.")))),
    extensions(("x-problems" = json!(["invalid-parameters"])))
)]
pub(crate) async fn list_templates(
    State(state): State<AppState>,
    Identified(caller): Identified,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let query = query.finish()?;
    let mut rows = state.launcher.templates(&caller, &Page { limit: page.limit + 1, ..page }).await?;
    let path = state.api_path("/templates/");
    let next = next_page(&mut rows, &page, |template| template.template_id, &path, &query);
    let body: Vec<_> = rows.into_iter().map(|row| WorkshopTemplateResponse::new(row, &caller)).collect();
    Ok((with_link(next), Json(body)).into_response())
}
