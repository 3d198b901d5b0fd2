//! `PUT /templates/{template_id}`.

use axum::Json;
use axum::extract::State;
use http::header::ETAG;
use http::{HeaderName, HeaderValue};
use launcher_domain::TemplateDraft;
use launcher_service::TemplateUpdate;
use serde_json::{Map, Value, json};

use super::read_only::{self, READ_ONLY};
use crate::extract::{IfMatch, Json as Body, TemplateId, deserialize, etag};
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{TemplateReplacement, WorkshopTemplateResponse};

type Updated = ([(HeaderName, HeaderValue); 1], Json<WorkshopTemplateResponse>);

/// Replace a template
///
/// Only admins may call it. Fields that are absent from the body take their defaults. The body may be a template as it
/// was read: read-only fields with their current values are ignored. Running workshops do not change.
#[utoipa::path(
    put, path = "/templates/{template_id}", operation_id = "updateTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-Match" = Option<String>, Header,
            description = "ETags. If none is current, the request is refused, so that it overwrites no other change. \
                           `*` matches any."),
    ),
    request_body = TemplateReplacement,
    responses((status = 200, description = "The changed template.", body = WorkshopTemplateResponse,
        headers(("ETag" = String, description = "The version, for `If-Match`.")))),
    extensions(("x-problems" = json!([
        "malformed-body", "admin-only", "not-found", "version-mismatch", "body-too-large", "unsupported-media-type",
        "invalid-fields"
    ])))
)]
pub(crate) async fn update_template(
    State(state): State<AppState>,
    manager: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Updated, Problem> {
    let mut expected_version = if_match.expected_version(&state.launcher, &manager.caller, id).await?;
    if READ_ONLY.iter().any(|field| body.contains_key(*field)) {
        let current = state.launcher.template(&manager.caller, id).await?;
        // A body with the version or the time of the last change changes only this version.
        let names_version = ["version", "updated_at"].iter().any(|field| body.contains_key(*field));
        expected_version = expected_version.or_else(|| names_version.then_some(current.version));
        read_only::remove(&mut body, &json!(WorkshopTemplateResponse::new(current, Some(&manager))))?;
    }
    let draft: TemplateDraft = deserialize(Value::Object(body))?;
    let template =
        state.launcher.update_template(&manager.caller, id, TemplateUpdate { draft, expected_version }).await?;
    Ok(([(ETAG, etag(template.version))], Json(WorkshopTemplateResponse::new(template, Some(&manager)))))
}
