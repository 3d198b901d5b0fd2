//! `POST /instances/{k8s_name}/restart`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::extract::InstanceName;
use crate::permission::{Allowed, RestartInstances};
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// Restart an outdated instance
///
/// Only for admins. Replaces the pod of a running instance that is `outdated`: the new pod has the current sidecar and
/// settings. **The work in the pod is lost**, and so are files that were not saved elsewhere. `expires_at` does not
/// change. A repeated request gets the error `not-outdated`, until the instance is outdated again.
#[utoipa::path(
    post, path = "/instances/{k8s_name}/restart", operation_id = "restartInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 202, description = "The instance, whose restart was requested.",
        body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!(["admin-only", "not-found", "not-running", "not-outdated"])))
)]
pub(crate) async fn restart_instance(
    State(state): State<AppState>,
    Allowed { caller, .. }: Allowed<RestartInstances>,
    InstanceName(name): InstanceName,
) -> Result<(StatusCode, Json<WorkshopInstanceResponse>), Problem> {
    let listed = state.launcher.restart(&caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&state.launcher, &listed))))
}
