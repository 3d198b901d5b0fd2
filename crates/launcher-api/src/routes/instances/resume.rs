//! `POST /instances/{k8s_name}/resume`.

use axum::Json;
use axum::extract::State;
use http::StatusCode;

use crate::extract::InstanceName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;
use crate::wire::WorkshopInstanceResponse;

/// Resume a suspended instance
///
/// Starts the instance again with its name, URL, volume, parameters and the settings of its launch. Like a launch, it
/// waits in the queue, counts against the limits, and gets a new lifetime when it is ready. The template may be
/// archived. A repeated request changes nothing.
#[utoipa::path(
    post, path = "/instances/{k8s_name}/resume", operation_id = "resumeInstance", tag = "instances",
    params(("k8s_name" = String, Path, description = "The instance's name.", example = "statistics-101-a7k3m9qz2x")),
    responses((status = 202, description = "The instance, which is queued, starting or running.",
        body = WorkshopInstanceResponse)),
    extensions(("x-problems" = json!([
        "not-found", "not-suspended", "instance-limit-reached", "volume-in-use", "too-many-launches", "at-capacity"
    ])))
)]
pub(crate) async fn resume_instance(
    State(state): State<AppState>,
    Identified(caller): Identified,
    InstanceName(name): InstanceName,
) -> Result<(StatusCode, Json<WorkshopInstanceResponse>), Problem> {
    let listed = state.launcher.resume(&caller, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(WorkshopInstanceResponse::new(&state.launcher, &listed))))
}
