//! Volumes and snapshots in words.

use launcher_domain::{Caller, Snapshot};
use launcher_service::{Launcher, ListedVolume, VolumeUser};
use uuid::Uuid;

use crate::pages::language::Language;
use crate::pages::view::Instant;

/// A volume in words.
#[derive(Debug)]
pub(super) struct VolumeRow {
    pub(super) volume: String,
    /// Name of the template, or the text for a volume that templates share.
    pub(super) name: String,
    pub(super) owner: String,
    pub(super) is_mine: bool,
    pub(super) size: String,
    /// The workshop that has the volume.
    pub(super) used_by: Option<VolumeUser>,
    pub(super) last_used: Instant,
    /// Time at which the service deletes the volume unless it is used before.
    pub(super) deleted_after: Option<Instant>,
}

/// A snapshot in words.
#[derive(Debug)]
pub(super) struct SnapshotRow {
    pub(super) snapshot_id: Uuid,
    /// Name of the template at the launch.
    pub(super) name: String,
    /// Name of the workshop.
    pub(super) workshop: String,
    pub(super) owner: String,
    pub(super) is_mine: bool,
    pub(super) size: String,
    pub(super) saved: Instant,
    /// Time at which the service deletes the files; `None` without an object store.
    pub(super) deleted_after: Option<Instant>,
}

impl VolumeRow {
    pub(super) fn new(
        t: Language,
        launcher: &Launcher,
        caller: &Caller,
        ListedVolume { volume, used_by }: ListedVolume,
    ) -> Self {
        let is_in_use = used_by.as_ref().is_some_and(|user| !user.is_suspended);
        let deleted_after = launcher.volume_retention().and_then(|retention| volume.deleted_after(retention));
        Self {
            is_mine: volume.owner_email == *caller.email(),
            owner: volume.owner_email.to_string(),
            volume: volume.name,
            name: volume.template_name.unwrap_or_else(|| t.text("saved-work-shared").into_owned()),
            size: volume.size,
            last_used: Instant::new(t, volume.last_used_at),
            deleted_after: deleted_after.filter(|_| !is_in_use).map(|at| Instant::new(t, at)),
            used_by,
        }
    }
}

impl SnapshotRow {
    pub(super) fn new(t: Language, launcher: &Launcher, caller: &Caller, snapshot: Snapshot) -> Self {
        let deleted_after = launcher.snapshot_retention().map(|retention| snapshot.deleted_after(retention));
        Self {
            snapshot_id: snapshot.snapshot_id,
            is_mine: snapshot.owner_email == *caller.email(),
            owner: snapshot.owner_email.to_string(),
            name: snapshot.template_name,
            workshop: snapshot.k8s_name,
            size: t.size(snapshot.bytes),
            saved: Instant::new(t, snapshot.created_at),
            deleted_after: deleted_after.map(|at| Instant::new(t, at)),
        }
    }
}
