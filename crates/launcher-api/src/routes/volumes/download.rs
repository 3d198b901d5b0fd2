//! `GET /volumes/{volume}/download`.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use launcher_domain::Caller;
use launcher_service::{Download, ServiceError};

use crate::extract::VolumeName;
use crate::identity::Identified;
use crate::problem::Problem;
use crate::routes::archive::archive;
use crate::state::AppState;

/// Download a volume
///
/// The kept files as a tar archive, compressed with gzip, also while a workshop uses them. Links and devices are omitted. If
/// the service cannot read some files, the file `NOT-IN-THIS-ARCHIVE.txt` lists them. If the archive is incomplete, the
/// service closes the connection before its end. On Kubernetes, the response begins after some seconds, when a pod has
/// opened the files.
#[utoipa::path(
    get, path = "/volumes/{volume}/download", operation_id = "downloadVolume", tag = "volumes",
    params(("volume" = String, Path, description = "The volume's name.", example = "work-a7k3m9qz2x")),
    responses((status = 200, description = "The archive.", body = Vec<u8>, content_type = "application/gzip")),
    extensions(("x-problems" = json!(["not-found", "fleet-without-downloads", "too-many-downloads", "download-not-ready"])))
)]
pub(crate) async fn download_volume(
    State(state): State<AppState>,
    Identified(caller): Identified,
    VolumeName(name): VolumeName,
) -> Result<Response, Problem> {
    Ok(download(&state, &caller, &name).await?)
}

/// Returns the files of a volume as a response.
pub(crate) async fn download(state: &AppState, caller: &Caller, name: &str) -> Result<Response, ServiceError> {
    let Download { listed, files } = state.launcher.download_volume(caller, name).await?;
    Ok(archive(listed.volume.template_name.as_deref().unwrap_or("work"), Body::from_stream(files)))
}
