//! Snapshots as the API sends them.

use launcher_domain::{EmailAddress, InstanceSnapshot, Snapshot};
use launcher_service::Launcher;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::named::{SnapshotFailureName, SnapshotStateName};
use super::time::rfc3339;

/// The files of a workshop that has ended. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SnapshotResponse {
    /// Identifier in paths.
    snapshot_id: Uuid,
    /// The user whose files these are.
    #[schema(value_type = String, example = "alice@example.org")]
    owner_email: EmailAddress,
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
    #[schema(format = DateTime, example = "2026-03-02T10:00:00.000Z")]
    created_at: String,
    /// Time at which the service deletes the files; null if it has no object store now.
    #[schema(required, format = DateTime, example = "2026-03-09T10:00:00.000Z")]
    deleted_after: Option<String>,
}

/// The snapshot of an instance: its files, saved at its end.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InstanceSnapshotResponse {
    #[schema(value_type = SnapshotStateName)]
    state: &'static str,
    /// Reason why the files could not be saved; null unless the state is failed.
    #[schema(required, value_type = Option<SnapshotFailureName>)]
    failure: Option<&'static str>,
}

impl SnapshotResponse {
    /// Converts a snapshot.
    pub(crate) fn new(launcher: &Launcher, snapshot: Snapshot) -> Self {
        let deleted_after = launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
        Self {
            snapshot_id: snapshot.snapshot_id,
            owner_email: snapshot.owner_email,
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
        Self { state: snapshot.state.as_str(), failure: snapshot.failure.map(|failure| failure.as_str()) }
    }
}
