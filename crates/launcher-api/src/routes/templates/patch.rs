//! `PATCH /templates/{template_id}`.

use axum::Json;
use axum::extract::State;
use http::header::ETAG;
use http::{HeaderName, HeaderValue};
use launcher_domain::{FieldError, FieldRule, Template, TemplateDraft};
use launcher_service::{ServiceError, TemplateUpdate};
use serde_json::{Map, Value, json};

use super::read_only;
use crate::admission::MAX_BODY_BYTES;
use crate::extract::{IfMatch, MergePatch, TemplateId, deserialize, etag};
use crate::permission::{Allowed, ManageTemplates};
use crate::problem::{Problem, ProblemCode};
use crate::state::AppState;
use crate::wire::{TemplatePatch, WorkshopTemplateResponse};

type Patched = ([(HeaderName, HeaderValue); 1], Json<WorkshopTemplateResponse>);

/// Number of attempts if another request changes the template between reading and writing it.
const ATTEMPTS: usize = 5;

/// Change fields of a template
///
/// Only admins may call it. The body is a JSON merge patch (RFC 7396): absent fields do not change, and `null` restores
/// the default of a field or removes a variable of `env`. Running workshops do not change.
#[utoipa::path(
    patch, path = "/templates/{template_id}", operation_id = "patchTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("If-Match" = Option<String>, Header,
            description = "ETags. If none is current, the request is refused, so that it overwrites no other change. \
                           `*` matches any."),
    ),
    request_body(content = TemplatePatch, content_type = "application/merge-patch+json"),
    responses((status = 200, description = "The changed template.", body = WorkshopTemplateResponse,
        headers(("ETag" = String, description = "The version, for `If-Match`.")))),
    extensions(("x-problems" = json!([
        "malformed-body", "admin-only", "not-found", "version-mismatch", "body-too-large", "unsupported-media-type",
        "invalid-fields"
    ])))
)]
pub(crate) async fn patch_template(
    State(state): State<AppState>,
    manager: Allowed<ManageTemplates>,
    TemplateId(id): TemplateId,
    if_match: IfMatch,
    MergePatch(patch): MergePatch,
) -> Result<Patched, Problem> {
    let required = if_match.expected_version(&state.launcher, &manager.caller, id).await?;
    for _ in 0..ATTEMPTS {
        let before = state.launcher.template(&manager.caller, id).await?;
        let expected_version = Some(required.unwrap_or(before.version));
        let draft = patched(&before, patch.clone(), &manager)?;
        let update = TemplateUpdate { draft, expected_version };
        match state.launcher.update_template(&manager.caller, id, update).await {
            Err(ServiceError::VersionMismatch) if required.is_none() => {}
            outcome => {
                let template = outcome?;
                let tag = [(ETAG, etag(template.version))];
                return Ok((tag, Json(WorkshopTemplateResponse::new(template, Some(&manager)))));
            }
        }
    }
    Err(ServiceError::VersionMismatch.into())
}

/// Applies a patch to the fields that an admin can write.
fn patched(
    before: &Template,
    mut patch: Map<String, Value>,
    manager: &Allowed<ManageTemplates>,
) -> Result<TemplateDraft, Problem> {
    let current = json!(WorkshopTemplateResponse::new(before.clone(), Some(manager)));
    read_only::remove(&mut patch, &current)?;
    let mut draft = json!(TemplateDraft::from(before));
    check_names(&draft, &patch)?;
    json_patch::merge(&mut draft, &Value::Object(patch));
    // Several small patches must not build a template that is too large to send as a whole.
    if draft.to_string().len() > MAX_BODY_BYTES {
        let detail = format!("The changed template would be larger than {} KiB.", MAX_BODY_BYTES / 1024);
        return Err(Problem::new(ProblemCode::BodyTooLarge, detail));
    }
    deserialize(draft)
}

/// Refuses unknown fields with the value `null`. A merge removes them, so the later check of the fields cannot see them.
fn check_names(draft: &Value, patch: &Map<String, Value>) -> Result<(), Problem> {
    let unknown = |known: &Value, patch: &Map<String, Value>, start: &str| -> Vec<FieldError> {
        let names = patch.keys().filter(|name| known.get(name.as_str()).is_none());
        let pointer = |name: &String| format!("{start}/{}", name.replace('~', "~0").replace('/', "~1"));
        let rule = |name: &String| {
            let message = format!("unknown field `{name}`");
            FieldRule::FieldUnknown { field: name.clone(), message }
        };
        names.map(|name| FieldError::new(pointer(name), rule(name))).collect()
    };
    let mut errors = unknown(draft, patch, "");
    if let Some(Value::Object(resources)) = patch.get("resources") {
        errors.extend(unknown(&draft["resources"], resources, "/resources"));
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid_fields(errors)) }
}
