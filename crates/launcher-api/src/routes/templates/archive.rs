//! `DELETE /templates/{template_id}`.

use axum::extract::State;
use http::StatusCode;

use crate::extract::{IfMatch, TemplateId};
use crate::identity::TemplateManager;
use crate::problem::Problem;
use crate::state::AppState;

/// Archive a template
///
/// For administrators. It leaves the catalog; running workshops go on. Repeating it changes nothing; a PUT with
/// `"active": true` brings it back.
#[utoipa::path(
    delete, path = "/templates/{template_id}", operation_id = "archiveTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-Match" = Option<String>, Header,
            description = "ETags, one of which has to be current: nobody's change in between is lost. `*` for any."),
    ),
    responses((status = 204, description = "It is archived.")),
    extensions(("x-problems" = json!(["admin-only", "not-found", "version-mismatch"])))
)]
pub(crate) async fn archive_template(
    State(state): State<AppState>,
    TemplateManager(caller): TemplateManager,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
) -> Result<StatusCode, Problem> {
    let expected_version = if_match.expected_version(&state, &caller, id).await?;
    state.launcher.archive_template(&caller, id, expected_version).await?;
    Ok(StatusCode::NO_CONTENT)
}
