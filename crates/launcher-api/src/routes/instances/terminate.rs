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
/// Ends it in whatever state it is; dismisses a failed one. Repeating it changes nothing and has the same answer.
#[utoipa::path(
    delete, path = "/instances/{k8s_name}", operation_id = "terminateInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 202, description = "The instance, on its way out or gone.", body = WorkshopInstanceResponse)),
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
