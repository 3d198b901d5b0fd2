//! `PUT /templates/{template_id}`.

use axum::Json;
use axum::extract::State;
use http::header::ETAG;
use http::{HeaderName, HeaderValue};
use launcher_domain::TemplateDraft;
use launcher_service::TemplateUpdate;

use crate::extract::{IfMatch, Json as Body, TemplateId, etag};
use crate::identity::TemplateManager;
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
    TemplateManager(caller): TemplateManager,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    Body(draft): Body<TemplateDraft>,
) -> Result<Updated, Problem> {
    let expected_version = if_match.expected_version(&state, &caller, id).await?;
    let template = state.launcher.update_template(&caller, id, TemplateUpdate { draft, expected_version }).await?;
    Ok(([(ETAG, etag(template.version))], Json(WorkshopTemplateResponse::new(template, &caller))))
}
