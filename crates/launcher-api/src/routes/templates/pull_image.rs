//! `POST /templates/{template_id}/image/pull`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::extract::TemplateId;
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::TemplateImageResponse;

/// Pull a template's image ahead of a launch
///
/// Only admins may call it. The container fleet pulls the image in the background: follow its state with a GET of
/// `/templates/{template_id}/image`. A repeated request changes nothing while the image is being pulled, or if it is
/// ready. Other fleets do not manage images.
#[utoipa::path(
    post, path = "/templates/{template_id}/image/pull", operation_id = "pullTemplateImage", tag = "templates",
    params(("template_id" = uuid::Uuid, Path, description = "The template's identifier.")),
    responses((status = 202, description = "The state of the image after the request.", body = TemplateImageResponse)),
    extensions(("x-problems" = json!(["admin-only", "not-found", "fleet-without-images"])))
)]
pub(crate) async fn pull_template_image(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> Result<(StatusCode, Json<TemplateImageResponse>), Problem> {
    let image = state.launcher.pull_image(&caller, id).await?;
    Ok((StatusCode::ACCEPTED, Json(image.into())))
}
