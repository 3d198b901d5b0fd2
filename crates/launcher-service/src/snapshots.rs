//! The object store of the snapshots, and the use cases: users list, download and delete the saved files of their workshops.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use jiff::SignedDuration;
use launcher_domain::{Activity, Caller, EmailAddress, FieldRule, Snapshot, Template};
use launcher_fleet::{ByteStream, STREAM_BYTES, SavedFiles, SavedFilesError};
use launcher_snapshots::{ARCHIVE_BYTES, SnapshotStore};
use launcher_store::Page;
use launcher_workshop::WorkshopSpec;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::archive::{ArchiveFormat, saved_to_format, to_files};
use crate::downloads::COMPRESSION_BYTES;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;

/// Maximum snapshots that are saved at the same time.
pub(crate) const SAVE_CONCURRENCY: usize = 4;
/// Maximum archives that fleets read at the same time to start workshops with saved files. Further starts wait.
const RESTORE_CONCURRENCY: usize = 4;
/// Maximum memory of all snapshots, in bytes. Each that is saved has the tar archive of the fleet, the compressed archive and an
/// upload. Each with which a workshop starts has the compressed archive, the tar archive, and a copy with another owner.
pub const SNAPSHOT_BYTES: usize = SAVE_CONCURRENCY * (2 * STREAM_BYTES + COMPRESSION_BYTES + ARCHIVE_BYTES)
    + RESTORE_CONCURRENCY * (3 * STREAM_BYTES + COMPRESSION_BYTES);

/// Object store of the snapshots, and their retention.
#[derive(Debug, Clone)]
pub struct Snapshots {
    pub store: SnapshotStore,
    /// Time after which a snapshot is deleted.
    pub retention: Duration,
}

impl Snapshots {
    /// Returns the source from which a fleet places saved files.
    #[must_use]
    pub fn saved_files(&self) -> Arc<dyn SavedFiles> {
        let slots = Arc::new(Semaphore::new(RESTORE_CONCURRENCY));
        Arc::new(SavedArchives { store: self.store.clone(), slots })
    }
}

/// The archives of the object store as files for new workshops.
#[derive(Debug)]
struct SavedArchives {
    store: SnapshotStore,
    slots: Arc<Semaphore>,
}

#[async_trait]
impl SavedFiles for SavedArchives {
    async fn open(&self, snapshot: &str) -> Result<ByteStream, SavedFilesError> {
        let snapshot_id = Uuid::try_parse(snapshot).map_err(|_| SavedFilesError::Missing)?;
        let slot = Arc::clone(&self.slots).acquire_owned().await;
        let slot = slot.map_err(|error| SavedFilesError::Unavailable(error.to_string()))?;
        match self.store.read(snapshot_id).await {
            Ok(saved) => Ok(to_files(saved)
                .map(move |bytes| {
                    let _held = &slot;
                    bytes
                })
                .boxed()),
            Err(error) if error.is_missing() => Err(SavedFilesError::Missing),
            Err(error) => Err(SavedFilesError::Unavailable(ErrorChain(&error).to_string())),
        }
    }
}

impl Launcher {
    /// True if workshops can start with saved files.
    #[must_use]
    pub fn can_restore(&self) -> bool {
        self.0.snapshots.is_some()
    }

    /// Returns the snapshot with whose files the caller launches this template. Only its owner may, not an admin.
    ///
    /// # Errors
    /// NotFound when the snapshot does not exist or belongs to another person; Invalid, SnapshotsUnavailable, Unavailable.
    pub(crate) async fn snapshot_to_launch(
        &self,
        caller: &Caller,
        template: &Template,
        snapshot_id: Uuid,
    ) -> Result<Snapshot, ServiceError> {
        let snapshot = self.snapshot(caller, snapshot_id).await?;
        if snapshot.owner_email != *caller.email() {
            return Err(ServiceError::NotFound);
        }
        let refused = |rule| Err(ServiceError::invalid("/snapshot", rule));
        if self.0.snapshots.is_none() {
            return Err(ServiceError::SnapshotsUnavailable(None));
        }
        let spec = WorkshopSpec::of(&Self::example(caller, &template.settings));
        let is_placeable = || self.0.fleets.main().archives().is_some_and(|archives| archives.can_restore(&spec));
        match template.settings.keeps_files() {
            _ if snapshot.template_id != template.template_id => refused(FieldRule::SnapshotOfOtherTemplate),
            true => refused(FieldRule::SnapshotWithVolume),
            false if !is_placeable() => refused(FieldRule::SnapshotWithoutDirectory),
            false => Ok(snapshot),
        }
    }

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

    /// Returns the files of a snapshot as an archive of this format. An error in the stream means that the archive
    /// is incomplete.
    ///
    /// # Errors
    /// NotFound when the snapshot does not exist or belongs to another person; TooManyDownloads, SnapshotsUnavailable,
    /// Unavailable.
    pub async fn download_snapshot(
        &self,
        caller: &Caller,
        snapshot_id: Uuid,
        format: ArchiveFormat,
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
        Ok((snapshot, slot.hold(saved_to_format(files, format))))
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
