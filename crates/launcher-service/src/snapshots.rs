//! The object store of the snapshots, and the use cases: users list, download and delete the saved files of their workshops.

use std::time::Duration;

use jiff::SignedDuration;
use launcher_domain::{Activity, Caller, EmailAddress, Snapshot};
use launcher_fleet::{ByteStream, STREAM_BYTES};
use launcher_snapshots::{ARCHIVE_BYTES, SnapshotStore};
use launcher_store::Page;
use uuid::Uuid;

use crate::downloads::COMPRESSION_BYTES;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;

/// Maximum snapshots that are saved at the same time.
pub(crate) const SAVE_CONCURRENCY: usize = 4;
/// Maximum memory of all snapshots, in bytes. Each has the tar archive of the fleet, the compressed archive and an upload.
pub const SNAPSHOT_BYTES: usize = SAVE_CONCURRENCY * (2 * STREAM_BYTES + COMPRESSION_BYTES + ARCHIVE_BYTES);

/// Object store of the snapshots, and their retention.
#[derive(Debug, Clone)]
pub struct Snapshots {
    /// Object store.
    pub store: SnapshotStore,
    /// Time after which a snapshot is deleted.
    pub retention: Duration,
}

impl Launcher {
    /// Returns the retention of snapshots; `None` if this launcher saves none.
    #[must_use]
    pub fn snapshot_retention(&self) -> Option<Duration> {
        self.0.snapshots.as_ref().map(|snapshots| snapshots.retention)
    }

    /// Lists a page of the caller's snapshots, newest first. An admin gets the snapshots of all owners, or those of `owner`.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn snapshots(
        &self,
        caller: &Caller,
        owner: Option<&EmailAddress>,
        page: &Page,
    ) -> Result<Vec<Snapshot>, ServiceError> {
        Ok(self.0.store.snapshots(caller, owner, page).await?)
    }

    /// Returns one snapshot that the caller may see.
    ///
    /// # Errors
    /// NotFound when the snapshot does not exist or belongs to another person; Unavailable.
    pub async fn snapshot(&self, caller: &Caller, snapshot_id: Uuid) -> Result<Snapshot, ServiceError> {
        self.0.store.snapshot(caller, snapshot_id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns the files of a snapshot as a tar archive, compressed with gzip. An error in the stream means that the archive
    /// is incomplete.
    ///
    /// # Errors
    /// NotFound when the snapshot does not exist or belongs to another person; TooManyDownloads, SnapshotsUnavailable,
    /// Unavailable.
    pub async fn download_snapshot(
        &self,
        caller: &Caller,
        snapshot_id: Uuid,
    ) -> Result<(Snapshot, ByteStream), ServiceError> {
        let snapshot = self.snapshot(caller, snapshot_id).await?;
        let store = self.0.snapshots.as_ref().ok_or(ServiceError::SnapshotsUnavailable(None))?;
        let slot = self.0.downloads.take(caller.email()).ok_or(ServiceError::TooManyDownloads)?;
        let files = store.store.read(snapshot_id).await.map_err(|error| {
            tracing::warn!(%snapshot_id, error = %ErrorChain(&error), "reading a snapshot failed");
            ServiceError::SnapshotsUnavailable(Some(error))
        })?;
        let entry = |action, act| Activity::of_snapshot(action, &snapshot, act);
        self.log_download(caller, &snapshot.owner_email, entry).await?;
        tracing::info!(%snapshot_id, by = %caller.email(), "download of snapshot begins");
        Ok((snapshot, slot.hold(files)))
    }

    /// Deletes a snapshot. The files are deleted within a minute.
    ///
    /// # Errors
    /// NotFound when the snapshot does not exist or belongs to another person; Unavailable.
    pub async fn delete_snapshot(&self, caller: &Caller, snapshot_id: Uuid) -> Result<(), ServiceError> {
        if !self.0.store.delete_snapshot(caller, snapshot_id, self.0.clock.now()).await? {
            return Err(ServiceError::NotFound);
        }
        tracing::info!(%snapshot_id, by = %caller.email(), "deletion of snapshot requested");
        self.0.upkeep.notify_one();
        Ok(())
    }

    /// Records when snapshots are deleted, and decides the deletion of those whose time is over. A launcher without an object
    /// store decides nothing.
    pub(crate) async fn decide_old_snapshots(&self) -> Result<(), LoopError> {
        let Some(snapshots) = &self.0.snapshots else { return Ok(()) };
        let now = self.0.clock.now();
        let retention = SignedDuration::try_from(snapshots.retention).unwrap_or(SignedDuration::MAX);
        self.0.store.announce_snapshot_retention(retention).await?;
        if let Ok(before) = now.checked_sub(retention) {
            let old = self.0.store.purge_old_snapshots(before, now).await?;
            if old > 0 {
                tracing::info!(old, "deleting snapshots after their retention");
            }
        }
        Ok(())
    }

    /// Deletes the files of all snapshots whose deletion is decided.
    pub(crate) async fn purge_snapshots(&self) -> Result<(), LoopError> {
        let Some(snapshots) = &self.0.snapshots else { return Ok(()) };
        for snapshot_id in self.0.store.purge_snapshots().await? {
            match snapshots.store.delete(snapshot_id).await {
                Ok(()) => self.0.store.purge_snapshot(snapshot_id).await?,
                Err(error) => {
                    tracing::warn!(%snapshot_id, error = %ErrorChain(&error), "deleting snapshot failed, retrying");
                    // Each attempt may take minutes: the next round begins with another snapshot.
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
