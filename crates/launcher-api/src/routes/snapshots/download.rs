//! `GET /snapshots/{snapshot_id}/download`.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use launcher_domain::Caller;
use launcher_service::ServiceError;
use uuid::Uuid;

use crate::extract::SnapshotId;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::routes::archive::archive;
use crate::state::AppState;

/// Download a snapshot
///
/// The saved files as a tar archive, compressed with gzip. Links and devices are omitted. If the service could not read
/// some files, the file `NOT-IN-THIS-ARCHIVE.txt` lists them. If the archive is incomplete, the service closes the
/// connection before its end.
#[utoipa::path(
    get, path = "/snapshots/{snapshot_id}/download", operation_id = "downloadSnapshot", tag = "snapshots",
    params(("snapshot_id" = uuid::Uuid, Path, description = "The snapshot's identifier.")),
    responses((status = 200, description = "The archive.", body = Vec<u8>, content_type = "application/gzip")),
    extensions(("x-problems" = json!(["not-found", "too-many-downloads", "snapshots-unavailable"])))
)]
pub(crate) async fn download_snapshot(
    State(state): State<AppState>,
    Identified(caller): Identified,
    SnapshotId(id): SnapshotId,
) -> Result<Response, Problem> {
    Ok(download(&state, &caller, id).await?)
}

/// Returns the files of a snapshot as a response.
pub(crate) async fn download(state: &AppState, caller: &Caller, id: Uuid) -> Result<Response, ServiceError> {
    let (snapshot, files) = state.launcher.download_snapshot(caller, id).await?;
    Ok(archive(&snapshot.template_name, Body::from_stream(files)))
}
