//! `DELETE /volumes/{volume}`.

use axum::extract::State;
use http::StatusCode;

use crate::extract::VolumeName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;

/// Delete a volume
///
/// Deletes the kept files. They cannot be recovered. The next launch gets an empty volume. A volume that an instance uses
/// is not deleted.
#[utoipa::path(
    delete, path = "/volumes/{volume}", operation_id = "deleteVolume", tag = "volumes",
    params(("volume" = String, Path, description = "The volume's name.", example = "work-a7k3m9qz2x")),
    responses((status = 204, description = "The volume is deleted.")),
    extensions(("x-problems" = json!(["not-found", "volume-in-use"])))
)]
pub(crate) async fn delete_volume(
    State(state): State<AppState>,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
) -> Result<StatusCode, Problem> {
    state.launcher.delete_volume(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
