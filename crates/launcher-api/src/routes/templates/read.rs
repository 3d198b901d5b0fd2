//! `GET /templates/{template_id}`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::ETAG;
use http::{HeaderMap, StatusCode};

use crate::extract::{TemplateId, etag, is_unchanged};
use crate::identity::Identified;
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopTemplateResponse;

/// Read a template
///
/// Every user may read every template, also an archived or unlisted one. `command`, `args` and `env` are empty unless the
/// caller is an admin.
#[utoipa::path(
    get, path = "/templates/{template_id}", operation_id = "readTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-None-Match" = Option<String>, Header,
            description = "ETags that the caller has. The response is 304 if one is current."),
    ),
    responses(
        (status = 200, description = "The template.", body = WorkshopTemplateResponse,
            headers(("ETag" = String, description = "The version, for `If-Match`."))),
        (status = 304, description = "The caller has the current version.",
            headers(("ETag" = String, description = "The version, for `If-Match`."))),
    ),
    extensions(("x-problems" = json!(["not-found"])))
)]
pub(crate) async fn read_template(
    State(state): State<AppState>,
    Identified(caller): Identified,
    manager: Result<Allowed<ManageTemplates>, Problem>,
    TemplateId(id): TemplateId,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let template = state.launcher.template(&caller, id).await?;
    let tag = [(ETAG, etag(template.version))];
    if is_unchanged(&headers, template.version) {
        return Ok((StatusCode::NOT_MODIFIED, tag).into_response());
    }
    Ok((tag, Json(WorkshopTemplateResponse::new(template, manager.as_ref().ok()))).into_response())
}
