//! `DELETE /snapshots/{snapshot_id}`.

use axum::extract::State;
use http::StatusCode;

use crate::extract::SnapshotId;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::state::AppState;

/// Delete a snapshot
///
/// Deletes the saved files. They cannot be recovered.
#[utoipa::path(
    delete, path = "/snapshots/{snapshot_id}", operation_id = "deleteSnapshot", tag = "snapshots",
    params(("snapshot_id" = uuid::Uuid, Path, description = "The snapshot's identifier.")),
    responses((status = 204, description = "The snapshot is deleted.")),
    extensions(("x-problems" = json!(["not-found"])))
)]
pub(crate) async fn delete_snapshot(
    State(state): State<AppState>,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
) -> Result<StatusCode, Problem> {
    state.launcher.delete_snapshot(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
