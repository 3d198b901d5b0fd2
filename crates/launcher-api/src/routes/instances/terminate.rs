//! `DELETE /instances/{k8s_name}`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// Terminate an instance
///
/// Ends an instance in any state, and dismisses a failed one. Files that were not saved elsewhere are lost. A repeated
/// request changes nothing and has the same response.
#[utoipa::path(
    delete, path = "/instances/{k8s_name}", operation_id = "terminateInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 202, description = "The instance, terminating or terminated.",
        body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!(["not-found"])))
)]
pub(crate) async fn terminate_instance(
    State(state): State<AppState>,
    Identified(caller): Identified,
    InstanceName(name): InstanceName,
) -> Result<(StatusCode, Json<WorkshopInstanceResponse>), Problem> {
    let listed = state.launcher.terminate(&caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&state.launcher, &listed))))
}
