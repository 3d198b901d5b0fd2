//! `DELETE /templates/{template_id}`.

use axum::extract::State;
use http::StatusCode;

use crate::extract::{IfMatch, TemplateId};
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;

/// Archive a template
///
/// Only admins may call it. Removes the template from the catalog. Running workshops keep running. A repeated request
/// changes nothing. A PUT with `"active": true` restores the template.
#[utoipa::path(
    delete, path = "/templates/{template_id}", operation_id = "archiveTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-Match" = Option<String>, Header,
            description = "ETags. If none is current, the request is refused, so that it overwrites no other change. \
                           `*` matches any."),
    ),
    responses((status = 204, description = "The template is archived.")),
    extensions(("x-problems" = json!(["admin-only", "not-found", "version-mismatch"])))
)]
pub(crate) async fn archive_template(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
) -> Result<StatusCode, Problem> {
    let expected_version = if_match.expected_version(&state.launcher, &caller, id).await?;
    state.launcher.archive_template(&caller, id, expected_version).await?;
    Ok(StatusCode::NO_CONTENT)
}
