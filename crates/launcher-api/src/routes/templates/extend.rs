//! `POST /templates/{template_id}/extend`.

use axum::Json;
use axum::extract::State;

use crate::extract::{Json as Body, TemplateId};
use crate::permission::{Allowed, ManageClass};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{ClassExtensionResponse, ExtendClassBody};

/// Extend all running instances of a template
///
/// Only admins may call it. Extends each running instance until `until`, but never beyond its
/// `extension.latest_expires_at`. No instance expires earlier than before. A repeated request changes nothing. If a
/// request fails, some instances may already be extended: repeat the request.
#[utoipa::path(
    post, path = "/templates/{template_id}/extend", operation_id = "extendClass", tag = "templates",
    params(("template_id" = uuid::Uuid, Path, description = "The template's identifier.")),
    request_body = ExtendClassBody,
    responses((status = 200, description = "The result for each running instance, newest first.",
        body = [ClassExtensionResponse])),
    extensions(("x-problems" = json!([
        "malformed-body", "admin-only", "not-found", "body-too-large", "unsupported-media-type", "invalid-fields"
    ])))
)]
pub(crate) async fn extend_class(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageClass>,
    TemplateId(id): TemplateId,
    Body(ExtendClassBody { until }): Body<ExtendClassBody>,
) -> Result<Json<Vec<ClassExtensionResponse>>, Problem> {
    let results = state.launcher.extend_class(&caller, id, until).await?;
    Ok(Json(results.into_iter().map(ClassExtensionResponse::from).collect()))
}
