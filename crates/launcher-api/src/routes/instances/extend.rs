//! `POST /instances/{k8s_name}/extend`.

use axum::Json;
use axum::extract::State;

use crate::extract::{InstanceName, OptionalJson};
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::{ExtendBody, WorkshopInstanceResponse};

/// Extend an instance
///
/// Adds the template's `extension_seconds` to `expires_at`, but never beyond `extension.latest_expires_at`.
#[utoipa::path(
    post, path = "/instances/{k8s_name}/extend", operation_id = "extendInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    request_body(content = Option<ExtendBody>, description = "Optional."),
    responses((status = 200, description = "The extended instance.", body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([
        "malformed-body", "not-found", "not-running", "lifetime-limit-reached", "expiry-changed", "body-too-large",
        "unsupported-media-type", "invalid-fields"
    ])))
)]
pub(crate) async fn extend_instance(
    State(state): State<AppState>,
    Identified(caller): Identified,
    InstanceName(name): InstanceName,
    OptionalJson(body): OptionalJson<ExtendBody>,
) -> Result<Json<WorkshopInstanceResponse>, Problem> {
    let listed = state.launcher.extend(&caller, &name, body.expected_expires_at).await?;
    Ok(Json(WorkshopInstanceResponse::new(&state.launcher, &listed)))
}
