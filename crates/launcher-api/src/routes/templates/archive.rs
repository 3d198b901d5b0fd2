//! `DELETE /templates/{template_id}`.

use axum::extract::State;
use http::StatusCode;

use crate::extract::TemplateId;
use crate::identity::Admin;
use crate::problem::Problem;
use crate::state::AppState;

/// Archive a template
///
/// For administrators. It leaves the catalog; running workshops go on. Repeating it changes nothing; a PUT with
/// `"active": true` brings it back.
#[utoipa::path(
    delete, path = "/templates/{template_id}", operation_id = "archiveTemplate", tag = "templates",
    params(("template_id" = uuid::Uuid, Path, description = "The template's identifier.")),
    responses((status = 204, description = "It is archived.")),
    extensions(("x-problems" = json!(["admin-only", "not-found"])))
)]
pub(crate) async fn archive_template(
    State(state): State<AppState>,
    Admin(caller): Admin,
    TemplateId(id): TemplateId,
) -> Result<StatusCode, Problem> {
    state.launcher.archive_template(&caller, id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}
