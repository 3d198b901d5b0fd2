//! `POST /templates/`.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{ETAG, LOCATION};
use launcher_domain::TemplateDraft;

use crate::extract::{Json as Body, etag};
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{TemplateBody, WorkshopTemplateResponse};

/// Create a template
///
/// Only admins may call it.
#[utoipa::path(
    post, path = "/templates/", operation_id = "createTemplate", tag = "templates",
    request_body = TemplateBody,
    responses((status = 201, description = "The new template.", body = WorkshopTemplateResponse, headers(
        ("Location" = String, description = "The path of the template."),
        ("ETag" = String, description = "The version, for `If-Match`."),
    ))),
    extensions(("x-problems" = json!([
        "malformed-body", "admin-only", "body-too-large", "unsupported-media-type", "invalid-fields"
    ])))
)]
pub(crate) async fn create_template(
    State(state): State<AppState>,
    manager: Allowed<ManageTemplates>,
    Body(draft): Body<TemplateDraft>,
) -> Result<Response, Problem> {
    let template = state.launcher.create_template(&manager.caller, draft).await?;
    let location = state.api_path(&format!("/templates/{}", template.template_id));
    let tag = etag(template.version);
    let body = Json(WorkshopTemplateResponse::new(template, Some(&manager)));
    Ok((StatusCode::CREATED, [(LOCATION, location)], [(ETAG, tag)], body).into_response())
}
