//! `GET /volumes/{volume}/download`.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use launcher_domain::Caller;
use launcher_service::ServiceError;

use crate::extract::VolumeName;
use crate::identity::Identified;
use crate::problem::Problem;
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

/// Returns the archive as a response. Its file has the name of the template, so that a browser saves it under this name.
pub(crate) async fn download(state: &AppState, caller: &Caller, name: &str) -> Result<Response, ServiceError> {
    let download = state.launcher.download_volume(caller, name).await?;
    let volume = &download.listed.volume;
    let file = file_name(volume.template_name.as_deref().unwrap_or("work"));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{file}.tar.gz\""));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/gzip")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    Ok((StatusCode::OK, headers, Body::from_stream(download.files)).into_response())
}

/// Returns the ASCII letters and digits of a name, with single hyphens between words.
fn file_name(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    if joined.is_empty() { "work".to_owned() } else { joined }
}
