//! Use cases of snapshots: a loop saves the files of ending instances, and users list, download and delete them.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::instance::SNAPSHOT_DELAY;
use launcher_domain::{Caller, EmailAddress, Instance, Snapshot, SnapshotFailure};
use launcher_fleet::{ByteStream, ReadError, STREAM_BYTES};
use launcher_snapshots::{ARCHIVE_BYTES, SaveError, SnapshotStore};
use launcher_store::Page;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::archive::to_download;
use crate::change::Target;
use crate::downloads::COMPRESSION_BYTES;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;

/// Interval of checks for expired instances, and for ends that another replica decided.
const INTERVAL: Duration = Duration::from_secs(1);
/// The same interval without an object store: only instances of an earlier launcher can have a planned snapshot.
const IDLE_INTERVAL: Duration = Duration::from_secs(15);
/// Maximum snapshots that are saved at the same time.
const CONCURRENCY: usize = 4;
/// Maximum size of an archive, in bytes.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum snapshots of one person. The end of a further workshop saves no files.
const MAX_PER_PERSON: u32 = 20;
/// Maximum memory of all snapshots, in bytes. Each has the tar archive of the fleet, the compressed archive and an upload.
pub const SNAPSHOT_BYTES: usize = CONCURRENCY * (2 * STREAM_BYTES + COMPRESSION_BYTES + ARCHIVE_BYTES);

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
    /// NotFound when the snapshot does not exist or belongs to another person; SnapshotsUnavailable, Unavailable.
    pub async fn download_snapshot(
        &self,
        caller: &Caller,
        snapshot_id: Uuid,
    ) -> Result<(Snapshot, ByteStream), ServiceError> {
        let snapshot = self.snapshot(caller, snapshot_id).await?;
        let store = self.0.snapshots.as_ref().ok_or(ServiceError::SnapshotsUnavailable(None))?;
        let files = store.store.read(snapshot_id).await.map_err(|error| {
            tracing::warn!(%snapshot_id, error = %ErrorChain(&error), "reading a snapshot failed");
            ServiceError::SnapshotsUnavailable(Some(error))
        })?;
        tracing::info!(%snapshot_id, by = %caller.email(), "download of snapshot begins");
        Ok((snapshot, files))
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

    /// Decides the deletion of snapshots after their retention, and deletes the files of all snapshots whose deletion is
    /// decided. A launcher without an object store deletes nothing.
    pub(crate) async fn purge_snapshots(&self) -> Result<(), LoopError> {
        let Some(snapshots) = &self.0.snapshots else { return Ok(()) };
        let now = self.0.clock.now();
        let retention = SignedDuration::try_from(snapshots.retention).unwrap_or(SignedDuration::MAX);
        if let Ok(before) = now.checked_sub(retention) {
            let old = self.0.store.purge_old_snapshots(before, now).await?;
            if old > 0 {
                tracing::info!(old, "deleting snapshots after their retention");
            }
        }
        for snapshot_id in self.0.store.purge_snapshots().await? {
            match snapshots.store.delete(snapshot_id).await {
                Ok(()) => self.0.store.purge_snapshot(snapshot_id).await?,
                Err(error) => {
                    tracing::warn!(%snapshot_id, error = %ErrorChain(&error), "deleting snapshot failed, retrying");
                }
            }
        }
        Ok(())
    }

    /// Saves the files of ending instances until `stop` is cancelled. Without an object store, gives up the snapshots that
    /// an earlier launcher planned.
    pub(crate) async fn run_snapshots(&self, stop: CancellationToken) {
        let mut calls = JoinSet::new();
        let interval = if self.0.snapshots.is_some() { INTERVAL } else { IDLE_INTERVAL };
        while !stop.is_cancelled() {
            match self.snapshots_to_save(CONCURRENCY - calls.len()).await {
                Ok(instances) => {
                    for instance in instances {
                        let launcher = self.clone();
                        calls.spawn(async move { launcher.save_and_end(instance).await });
                    }
                }
                Err(error) => tracing::warn!(error = %ErrorChain(&error), "finding snapshots failed, retrying"),
            }
            tokio::select! {
                Some(_) = calls.join_next() => {}
                () = self.0.ending.notified() => {}
                () = tokio::time::sleep(interval) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Ends the expired instances with a planned snapshot. Returns at most `room` instances whose snapshot this launcher must
    /// save now. Gives up the snapshots that are too late.
    async fn snapshots_to_save(&self, room: usize) -> Result<Vec<Instance>, LoopError> {
        let now = self.0.clock.now();
        for instance in self.0.store.snapshot_overdue(now).await? {
            let target = Target::ByService(&instance.k8s_name);
            self.change_instance(target, |row| Ok(row.expire_with_snapshot(now))).await?;
        }
        let mut begun = Vec::new();
        for instance in self.0.store.snapshot_ending().await? {
            let Some(deadline) = self.deadline(&instance) else { continue };
            if self.0.snapshots.is_none() {
                self.finish(&instance, Err(SnapshotFailure::StoreUnavailable)).await?;
            } else if deadline <= now {
                self.finish(&instance, Err(SnapshotFailure::TimeLimit)).await?;
            } else if begun.len() < room
                && let Some(begun_instance) = self.begin(&instance, now).await?
            {
                begun.push(begun_instance);
            }
        }
        Ok(begun)
    }

    /// Returns the time at which an instance ends without its snapshot; `None` if it waits for no snapshot. While no launcher
    /// runs, the time does not count.
    fn deadline(&self, instance: &Instance) -> Option<Timestamp> {
        let since = instance.snapshot.as_ref().filter(|_| instance.waits_for_snapshot())?.pending_since?;
        since.max(self.0.started_at).checked_add(SNAPSHOT_DELAY).ok()
    }

    /// Returns the instance if its snapshot is this launcher's to save: no other launcher has begun it.
    async fn begin(&self, instance: &Instance, now: Timestamp) -> Result<Option<Instance>, ServiceError> {
        let mut has_begun = false;
        let target = Target::ByService(&instance.k8s_name);
        let row = self.change_instance(target, |row| {
            let is_same = row.instance_id == instance.instance_id;
            // In a database of this launcher alone, a begin from before its start is that of an interrupted process.
            let earliest = if self.0.store.is_shared() { Timestamp::MIN } else { self.0.started_at };
            let begun = row.begin_snapshot(now, earliest).filter(|_| is_same);
            has_begun = begun.is_some();
            Ok(begun)
        });
        Ok(row.await?.filter(|_| has_begun))
    }

    async fn finish(&self, instance: &Instance, outcome: Result<(), SnapshotFailure>) -> Result<(), ServiceError> {
        let target = Target::ByService(&instance.k8s_name);
        self.change_instance(target, |row| Ok(row.finish_snapshot(outcome))).await.map(drop)
    }

    /// Saves the files of an instance, and lets its Workshop be deleted. If the database fails at the end, the snapshot is
    /// saved again later, or given up.
    async fn save_and_end(&self, instance: Instance) {
        let outcome = self.save(&instance).await;
        match &outcome {
            Ok(bytes) => tracing::info!(workshop = %instance.k8s_name, bytes, "saved the files of the workshop"),
            Err((failure, error)) => tracing::warn!(
                workshop = %instance.k8s_name, failure = failure.as_str(), error, "saving the files of the workshop failed"
            ),
        }
        if let Err(error) = self.finish(&instance, outcome.map(drop).map_err(|(failure, _)| failure)).await {
            tracing::warn!(workshop = %instance.k8s_name, error = %ErrorChain(&error), "recording a snapshot failed");
        }
    }

    /// Saves the files of an instance. Returns the size of the archive in bytes, or the reason and a description.
    async fn save(&self, instance: &Instance) -> Result<u64, (SnapshotFailure, String)> {
        let left = self.deadline(instance).map(|deadline| deadline.duration_since(self.0.clock.now()));
        let left = left.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
        let late = |_| (SnapshotFailure::TimeLimit, "the time is over".to_owned());
        timeout_at(Instant::now() + left, self.save_files(instance)).await.map_err(late)?
    }

    async fn save_files(&self, instance: &Instance) -> Result<u64, (SnapshotFailure, String)> {
        use SnapshotFailure::{FilesUnavailable, LimitReached, StoreUnavailable, TooLarge};
        let database = |error| (StoreUnavailable, ErrorChain(&error).to_string());
        let held = self.0.store.snapshots_held(&instance.owner_email).await.map_err(database)?;
        if held >= MAX_PER_PERSON {
            return Err((LimitReached, format!("the owner has {held} snapshots")));
        }
        let snapshots = self.0.snapshots.as_ref().ok_or((StoreUnavailable, "no object store".to_owned()))?;
        let unreadable = |error: ReadError| (FilesUnavailable, ErrorChain(&error).to_string());
        let tar = self.open_app(instance).await.map_err(unreadable)?;
        let saved = snapshots.store.save(instance.instance_id, to_download(tar), MAX_BYTES).await;
        let bytes = saved.map_err(|error| {
            let failure = match error {
                SaveError::TooLarge { .. } => TooLarge,
                SaveError::Source(_) => FilesUnavailable,
                SaveError::Store(_) => StoreUnavailable,
            };
            (failure, ErrorChain(&error).to_string())
        })?;
        let snapshot = Snapshot {
            snapshot_id: instance.instance_id,
            owner_email: instance.owner_email.clone(),
            template_id: instance.template_id,
            template_name: instance.settings.name.clone(),
            k8s_name: instance.k8s_name.clone(),
            bytes,
            created_at: self.0.clock.now(),
        };
        self.0.store.save_snapshot(&snapshot).await.map_err(database)?;
        Ok(bytes)
    }

    /// Opens the archive of the app's files.
    async fn open_app(&self, instance: &Instance) -> Result<ByteStream, ReadError> {
        let refused = |text: &str| ReadError::NotReady(text.to_owned());
        let archives = self.0.fleet.archives().ok_or_else(|| refused("the fleet reads no files"))?;
        let token = &instance.snapshot.as_ref().ok_or_else(|| refused("no snapshot is planned"))?.token;
        archives.read_app(&instance.k8s_name, token).await
    }
}
