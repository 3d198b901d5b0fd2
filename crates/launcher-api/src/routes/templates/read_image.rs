//! `GET /templates/{template_id}/image`.

use axum::Json;
use axum::extract::State;

use crate::extract::TemplateId;
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::TemplateImageResponse;

/// Read the state of a template's image
///
/// Only admins may call it. Says if the image is on the server of the container fleet, so that a launch needs no
/// download. Other fleets do not manage images.
#[utoipa::path(
    get, path = "/templates/{template_id}/image", operation_id = "readTemplateImage", tag = "templates",
    params(("template_id" = uuid::Uuid, Path, description = "The template's identifier.")),
    responses((status = 200, description = "The state of the image.", body = TemplateImageResponse)),
    extensions(("x-problems" = json!(["admin-only", "not-found", "fleet-without-images"])))
)]
pub(crate) async fn read_template_image(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
) -> Result<Json<TemplateImageResponse>, Problem> {
    Ok(Json(state.launcher.image_state(&caller, id).await?.into()))
}
