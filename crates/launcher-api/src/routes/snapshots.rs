//! `/snapshots/`: files of ended workshops.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use launcher_domain::{InstanceSnapshot, Snapshot};
use launcher_service::{ArchiveFormat, Launcher, ServiceError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::extract::{ListQuery, SnapshotId, list_page};
use crate::permission::{Allowed, ListAllVolumes};
use crate::problem::{Problem, ProblemCode};
use crate::routes::Routes;
use crate::state::Call;
use crate::wire::{SnapshotFailureName, SnapshotStateName, rfc3339};

pub(super) fn routes() -> Routes {
    vec![routes!(list_snapshots), routes!(delete_snapshot), routes!(download_snapshot)]
}

/// List snapshots
///
/// The saved files of the caller's ended workshops; for an admin the snapshots of all users. Newest first.
#[utoipa::path(get, path = "/snapshots/", operation_id = "listSnapshots", tag = "snapshots",
    params(("owner_email" = Option<String>, Query, min_length = 3, max_length = 254,
            pattern = "^[!-?A-~]{1,64}@[!-?A-~]{1,189}$",
            description = "Only snapshots of this person. Only admins may send it.")),
    responses((status = 200, description = "A page of snapshots.", body = [SnapshotResponse])),
    extensions(("x-parameters" = json!(["limit", "cursor"])), ("x-problems" = json!([ProblemCode::AdminOnly]))))]
pub(crate) async fn list_snapshots(
    call: Call,
    lists_all: Result<Allowed<ListAllVolumes>, Problem>,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let page = query.page()?;
    let owner = query.owner(lists_all)?;
    let path = query.finish(&call, "/snapshots/")?;
    let rows = call.launcher.snapshots(&call.caller, owner.as_ref(), &page).await?;
    let response = |snapshot| SnapshotResponse::new(&call.launcher, snapshot);
    Ok(list_page(rows, &page, &path, |snapshot| snapshot.snapshot_id, response))
}

/// Delete a snapshot
///
/// Deletes the saved files. They cannot be recovered.
#[utoipa::path(delete, path = "/snapshots/{snapshot_id}", operation_id = "deleteSnapshot", tag = "snapshots",
    responses((status = 204, description = "The snapshot is deleted.")))]
pub(crate) async fn delete_snapshot(call: Call, SnapshotId(id): SnapshotId) -> Result<StatusCode, Problem> {
    call.launcher.delete_snapshot(&call.caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Download a snapshot
///
/// The saved files as a tar archive, compressed with gzip, or as a zip archive. Links and devices are omitted. If the service
/// could not read some files, the file `NOT-IN-THIS-ARCHIVE.txt` lists them. If the archive is incomplete, the service closes
/// the connection before its end.
#[utoipa::path(get, path = "/snapshots/{snapshot_id}/download", operation_id = "downloadSnapshot", tag = "snapshots",
    responses((status = 200, description = "The archive.", content((Vec<u8> = "application/gzip"),
            (Vec<u8> = "application/zip")))),
    extensions(("x-parameters" = json!(["format"])),
        ("x-problems" = json!([ProblemCode::TooManyDownloads, ProblemCode::SnapshotsUnavailable]))))]
pub(crate) async fn download_snapshot(
    call: Call,
    SnapshotId(id): SnapshotId,
    mut query: ListQuery,
) -> Result<Response, Problem> {
    let format = query.format()?;
    query.finish(&call, "/snapshots/")?;
    Ok(download(&call, id, format).await?)
}

pub(crate) async fn download(call: &Call, id: Uuid, format: ArchiveFormat) -> Result<Response, ServiceError> {
    let (snapshot, files) = call.launcher.download_snapshot(&call.caller, id, format).await?;
    Ok(archive(&snapshot.template_name, format, Body::from_stream(files)))
}

/// The files of a workshop that has ended. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SnapshotResponse {
    /// Identifier in paths.
    snapshot_id: Uuid,
    /// The user whose files these are.
    owner_email: String,
    /// Template of the workshop.
    template_id: Uuid,
    /// The template's name at the launch.
    #[schema(example = "Statistics 101")]
    template_name: String,
    /// Name of the instance.
    #[schema(example = "statistics-101-a7k3m9qz2x")]
    workshop: String,
    /// Size of the archive, in bytes.
    #[schema(example = 1_536_000)]
    bytes: u64,
    /// Time at which the files were saved.
    created_at: String,
    /// Time at which the service deletes the files; null if it has no object store now.
    deleted_after: Option<String>,
}

/// The snapshot of an instance: its files, saved at its end.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InstanceSnapshotResponse {
    state: SnapshotStateName,
    /// Reason why the files could not be saved; null unless the state is failed.
    failure: Option<SnapshotFailureName>,
}

impl SnapshotResponse {
    pub(crate) fn new(launcher: &Launcher, snapshot: Snapshot) -> Self {
        let deleted_after = launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
        Self {
            snapshot_id: snapshot.snapshot_id,
            owner_email: snapshot.owner_email.to_string(),
            template_id: snapshot.template_id,
            template_name: snapshot.template_name,
            workshop: snapshot.k8s_name,
            bytes: snapshot.bytes,
            created_at: rfc3339(snapshot.created_at),
            deleted_after: deleted_after.map(rfc3339),
        }
    }
}

impl From<&InstanceSnapshot> for InstanceSnapshotResponse {
    fn from(snapshot: &InstanceSnapshot) -> Self {
        Self { state: snapshot.state.into(), failure: snapshot.failure.map(SnapshotFailureName::from) }
    }
}

/// Returns an archive as a response. Its file has the name of the template, so that a browser saves it under this name.
pub(crate) fn archive(template_name: &str, format: ArchiveFormat, files: Body) -> Response {
    let (extension, media_type) = match format {
        ArchiveFormat::TarGz => ("tar.gz", "application/gzip"),
        ArchiveFormat::Zip => ("zip", "application/zip"),
    };
    attachment(&format!("{}.{extension}", file_name(template_name)), media_type, files)
}

/// Returns a file that a browser saves under this name, which consists of ASCII letters, digits, hyphens and dots.
pub(crate) fn attachment(name: &str, media_type: &'static str, content: impl Into<Body>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (CONTENT_DISPOSITION, HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (StatusCode::OK, headers, content.into()).into_response()
}

/// Returns the ASCII letters and digits of a name, with single hyphens between words.
fn file_name(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    if joined.is_empty() { "work".to_owned() } else { joined }
}
