//! `POST /instances/{k8s_name}/suspend`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// Suspend an instance
///
/// Only for a running instance whose template has `storage`. Stops its workload: programs end, and the files of the
/// volume stay. The instance is `suspending` until the workload is gone, then `suspended`. A suspended instance does not
/// count against the limit of workshops. It ends when its owner ends it, or when its volume was not used for the
/// retention. A repeated request changes nothing.
#[utoipa::path(
    post, path = "/instances/{k8s_name}/suspend", operation_id = "suspendInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 202, description = "The instance, which is being suspended or is suspended.",
        body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!(["not-found", "not-running", "files-not-kept"])))
)]
pub(crate) async fn suspend_instance(
    State(state): State<AppState>,
    Identified(caller): Identified,
    InstanceName(name): InstanceName,
) -> Result<(StatusCode, Json<WorkshopInstanceResponse>), Problem> {
    let listed = state.launcher.suspend(&caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&state.launcher, &listed))))
}
