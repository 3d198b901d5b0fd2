//! `POST /templates/{template_id}/launch`.

use axum::Json;
use axum::extract::State;
use http::header::LOCATION;
use http::{HeaderMap, HeaderName, StatusCode};
use launcher_service::LaunchRequest;
use serde_json::json;

use crate::extract::{OptionalJson, TemplateId, idempotency_key};
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{LaunchBody, WorkshopInstanceResponse};

type Launched = (StatusCode, [(HeaderName, String); 1], Json<WorkshopInstanceResponse>);

/// Launch a template
///
/// Creates an instance in state queued, which the caller owns, and responds at once. Every user may
/// launch an active template, also an unlisted one. Only admins may launch archived templates, to test them. A
/// repository is refused unless its URL begins with an address that the template allows.
#[utoipa::path(
    post, path = "/templates/{template_id}/launch", operation_id = "launchTemplate", tag = "templates",
    params(
        ("template_id" = uuid::Uuid, Path, description = "The template's identifier."),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 255, pattern = "^[!-~]+$",
            description = "Makes a launch safe to repeat: the same key of the same caller returns the same instance."),
    ),
    request_body(content = Option<LaunchBody>, description = "Optional, unless a parameter needs a value."),
    responses(
        (status = 201, description = "The new instance.", body = WorkshopInstanceResponse,
            headers(("Location" = String, description = "The path of the instance."))),
        (status = 200, description = "The instance that an earlier launch with the same key created.",
            body = WorkshopInstanceResponse, headers(("Location" = String, description = "The path of the instance."))),
    ),
    extensions(("x-problems" = json!([
        "malformed-body", "not-found", "template-inactive", "instance-limit-reached", "volume-in-use",
        "storage-limit-reached", "body-too-large",
        "unsupported-media-type", "invalid-fields", "invalid-parameters", "idempotency-key-reused",
        "too-many-launches", "at-capacity"
    ])))
)]
pub(crate) async fn launch_template(
    State(state): State<AppState>,
    Identified(caller): Identified,
    TemplateId(id): TemplateId,
    headers: HeaderMap,
    OptionalJson(LaunchBody { repository, parameters }): OptionalJson<LaunchBody>,
) -> Result<Launched, Problem> {
    let body = repository.as_ref().map_or_else(|| json!({}), |repository| json!({ "repository": repository }));
    // A request without a body counts as one with an empty object: requests with the same key must have the same body.
    let idempotency_key = idempotency_key(&headers)?;
    let request = LaunchRequest { idempotency_key, repository, body, parameters: parameters.0 };
    let launched = state.launcher.launch(&caller, id, &request).await?;
    let status = if launched.created { StatusCode::CREATED } else { StatusCode::OK };
    let location = state.api_path(&format!("/instances/{}", launched.listed.instance.k8s_name));
    let body = WorkshopInstanceResponse::new(&state.launcher, &launched.listed);
    Ok((status, [(LOCATION, location)], Json(body)))
}
