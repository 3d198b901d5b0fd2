//! `/volumes/`: kept files.

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use launcher_service::{ArchiveFormat, Download, Launcher, ListedVolume, ServiceError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::extract::{ListQuery, VolumeName, list_page};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::routes::snapshots::archive;
use crate::state::Call;
use crate::wire::rfc3339;

pub(super) fn routes() -> Routes {
    vec![routes!(list_volumes), routes!(delete_volume), routes!(download_volume)]
}

/// List volumes
///
/// The caller's kept files, one volume per template; for an admin the volumes of all users. Newest first.
#[utoipa::path(get, path = "/volumes/", operation_id = "listVolumes", tag = "volumes",
    responses((status = 200, description = "A page of volumes.", body = [VolumeResponse])),
    extensions(("x-parameters" = json!(["limit", "cursor"]))))]
pub(crate) async fn list_volumes(call: Call, mut query: ListQuery) -> Result<Response, Problem> {
    let page = query.page()?;
    let path = query.finish(&call, "/volumes/")?;
    let rows = call.launcher.volumes(&call.caller, None, &page).await?;
    let response = |listed| VolumeResponse::new(&call.launcher, listed);
    Ok(list_page(rows, &page, &path, |listed| listed.volume.volume_id, response))
}

/// Delete a volume
///
/// Deletes the kept files. They cannot be recovered. The next launch gets an empty volume. A volume that an instance uses
/// is not deleted.
#[utoipa::path(delete, path = "/volumes/{volume}", operation_id = "deleteVolume", tag = "volumes",
    responses((status = 204, description = "The volume is deleted.")),
    extensions(("x-problems" = json!([ProblemCode::VolumeInUse]))))]
pub(crate) async fn delete_volume(call: Call, VolumeName(name): VolumeName) -> Result<StatusCode, Problem> {
    call.launcher.delete_volume(&call.caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Download a volume
///
/// The kept files as a tar archive, compressed with gzip, or as a zip archive, also while a workshop uses them. Links and
/// devices are omitted. If the service cannot read some files, the file `NOT-IN-THIS-ARCHIVE.txt` lists them. If the archive
/// is incomplete, the service closes the connection before its end. On Kubernetes, the response begins after some seconds,
/// when a pod has opened the files.
#[utoipa::path(get, path = "/volumes/{volume}/download", operation_id = "downloadVolume", tag = "volumes",
    responses((status = 200, description = "The archive.", content((Vec<u8> = "application/gzip"),
            (Vec<u8> = "application/zip")))),
    extensions(("x-parameters" = json!(["format"])),
        ("x-problems" = json!([ProblemCode::FleetWithoutDownloads, ProblemCode::TooManyDownloads,
            ProblemCode::DownloadNotReady]))))]
pub(crate) async fn download_volume(
    call: Call,
    VolumeName(name): VolumeName,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let format = query.format()?;
    query.finish(&call, "/volumes/")?;
    Ok(download(&call, &name, format).await?)
}

pub(crate) async fn download(call: &Call, name: &str, format: ArchiveFormat) -> Result<Response, ServiceError> {
    let Download { listed, files } = call.launcher.download_volume(&call.caller, name, format).await?;
    Ok(archive(listed.volume.template_name.as_deref().unwrap_or("work"), format, Body::from_stream(files)))
}

/// Returns the time at which the service deletes a volume unless it is used before; `None` while a workshop runs with it.
pub(crate) fn deleted_after(launcher: &Launcher, ListedVolume { volume, used_by }: &ListedVolume) -> Option<Timestamp> {
    let is_in_use = used_by.as_ref().is_some_and(|user| !user.is_suspended);
    launcher.volume_retention().filter(|_| !is_in_use).and_then(|retention| volume.deleted_after(retention))
}

/// The kept files of one user. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VolumeResponse {
    /// Name in paths.
    #[schema(example = "work-a7k3m9qz2x")]
    name: String,
    /// The user whose files these are.
    owner_email: String,
    /// Template whose launches use the volume; null if all templates with the storage `home` share it.
    template_id: Option<Uuid>,
    /// Name of this template at the first launch.
    #[schema(example = "Statistics 101")]
    template_name: Option<String>,
    /// Size, as a Kubernetes quantity.
    #[schema(example = "1Gi")]
    size: String,
    /// Name of the instance that uses the volume, also while it is suspended; null if none does.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    used_by: Option<String>,
    /// Time of the first launch.
    created_at: String,
    /// Time of the last use, at most one hour too early.
    last_used_at: String,
    /// Time at which the service deletes the volume unless it is used before; null if never. The service then also ends a
    /// suspended instance that holds the volume.
    deleted_after: Option<String>,
}

impl VolumeResponse {
    pub(crate) fn new(launcher: &Launcher, listed: ListedVolume) -> Self {
        let deleted_after = deleted_after(launcher, &listed);
        let ListedVolume { volume, used_by } = listed;
        Self {
            name: volume.name,
            owner_email: volume.owner_email.to_string(),
            template_id: volume.template_id,
            template_name: volume.template_name,
            size: volume.size,
            created_at: rfc3339(volume.created_at),
            last_used_at: rfc3339(volume.last_used_at),
            deleted_after: deleted_after.map(rfc3339),
            used_by: used_by.map(|user| user.k8s_name),
        }
    }
}
