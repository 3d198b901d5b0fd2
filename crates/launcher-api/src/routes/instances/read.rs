//! `GET /instances/{k8s_name}`.

use axum::Json;
use axum::extract::State;

use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// Read an instance
///
/// The caller's own instance; for an administrator any instance. For another user's instance, the response is the same
/// as for a missing one.
#[utoipa::path(
    get, path = "/instances/{k8s_name}", operation_id = "readInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 200, description = "The instance.", body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!(["not-found"])))
)]
pub(crate) async fn read_instance(
    State(state): State<AppState>,
    Identified(caller): Identified,
    InstanceName(name): InstanceName,
) -> Result<Json<WorkshopInstanceResponse>, Problem> {
    let listed = state.launcher.instance(&caller, &name).await?;
    Ok(Json(WorkshopInstanceResponse::new(&state.launcher, &listed)))
}
