//! `PUT /templates/{template_id}`.

use axum::Json;
use axum::extract::State;
use http::header::ETAG;
use http::{HeaderName, HeaderValue};
use launcher_domain::{Caller, TemplateDraft};
use launcher_service::{ServiceError, TemplateUpdate};
use uuid::Uuid;

use crate::extract::{IfMatch, Json as Body, TemplateId, etag};
use crate::identity::Admin;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{TemplateBody, WorkshopTemplateResponse};

type Updated = ([(HeaderName, HeaderValue); 1], Json<WorkshopTemplateResponse>);

/// Replace a template
///
/// For administrators. What the body leaves out takes its default again. Running workshops go on as they are.
#[utoipa::path(
    put, path = "/templates/{template_id}", operation_id = "updateTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-Match" = Option<String>, Header,
            description = "ETags, one of which has to be current: nobody's change in between is lost. `*` for any."),
    ),
    request_body = TemplateBody,
    responses((status = 200, description = "The template as it is now.", body = WorkshopTemplateResponse,
        headers(("ETag" = String, description = "The version, for `If-Match`.")))),
    extensions(("x-problems" = json!([
        "malformed-body", "admin-only", "not-found", "version-mismatch", "body-too-large", "unsupported-media-type",
        "invalid-fields"
    ])))
)]
pub(crate) async fn update_template(
    State(state): State<AppState>,
    Admin(caller): Admin,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    Body(draft): Body<TemplateDraft>,
) -> Result<Updated, Problem> {
    let expected_version = expected(&state, &caller, id, &if_match).await?;
    let template = state.launcher.update_template(&caller, id, TemplateUpdate { draft, expected_version }).await?;
    Ok(([(ETAG, etag(template.version))], Json(template.into())))
}

/// The one version that the update may replace, when the caller names any. It is checked again with the write.
async fn expected(
    state: &AppState,
    caller: &Caller,
    id: Uuid,
    if_match: &IfMatch,
) -> Result<Option<i64>, ServiceError> {
    if *if_match == IfMatch::Any {
        return Ok(None);
    }
    let version = state.launcher.template(caller, id).await?.version;
    if if_match.allows(version) { Ok(Some(version)) } else { Err(ServiceError::VersionMismatch) }
}
