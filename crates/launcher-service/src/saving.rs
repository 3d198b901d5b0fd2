//! The loop that saves the files of ending instances: an instance with a planned snapshot ends after its snapshot.

use std::collections::HashMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::sync::lock;
use launcher_domain::{EmailAddress, Instance, Snapshot, SnapshotFailure};
use launcher_fleet::{ByteStream, FleetError, ReadError};
use launcher_snapshots::SaveError;
use launcher_store::StoreError;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::archive::to_download;
use crate::attempts::Attempts;
use crate::change::Target;
use crate::error::{ErrorChain, LoopError, ServiceError, finished};
use crate::launcher::Launcher;
use crate::snapshots::{SAVE_CONCURRENCY, Snapshots};

/// Interval of checks for expired instances, and for ends that another replica decided.
const INTERVAL: Duration = Duration::from_secs(1);
/// The same interval without an object store: only instances of an earlier launcher can have a planned snapshot.
const IDLE_INTERVAL: Duration = Duration::from_secs(15);
/// Delay before the next attempt to save the same files.
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Maximum size of an archive, in bytes.
const MAX_BYTES: u64 = 2 << 30;
/// Maximum snapshots of one person. The end of a further workshop saves no files.
const MAX_PER_PERSON: u32 = 20;
/// Interval of the warnings about one person with the maximum number of snapshots. A script can launch and end hundreds of
/// workshops in this time.
const WARNING_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// Returns the limit of warnings about one person with the maximum number of snapshots.
pub(crate) fn warned_owners() -> Attempts {
    Attempts::new(1, WARNING_INTERVAL)
}

/// The instances whose files this launcher saves now, with their owners.
type Saving = HashMap<Uuid, EmailAddress>;

impl Launcher {
    /// Saves the files of ending instances until `stop` is cancelled. Without an object store, gives up the snapshots that
    /// an earlier launcher planned.
    pub(crate) async fn run_snapshots(&self, stop: CancellationToken) {
        let (mut calls, mut saving) = (JoinSet::new(), Saving::new());
        let interval = if self.0.snapshots.is_some() { INTERVAL } else { IDLE_INTERVAL };
        while !stop.is_cancelled() {
            match self.snapshots_to_save(&saving).await {
                Ok(instances) => {
                    for instance in instances {
                        saving.insert(instance.instance_id, instance.owner_email.clone());
                        let launcher = self.clone();
                        calls.spawn(async move {
                            let instance_id = instance.instance_id;
                            launcher.save_and_end(instance).await;
                            instance_id
                        });
                    }
                }
                Err(error) => tracing::warn!(error = %ErrorChain(&error), "finding snapshots failed, retrying"),
            }
            tokio::select! {
                Some(ended) = calls.join_next() => {
                    let Some(instance_id) = finished(ended) else { return };
                    saving.remove(&instance_id);
                }
                () = self.0.ending.notified() => {}
                () = sleep(interval) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Ends the expired instances with a planned snapshot. Returns the instances whose snapshot this launcher must save now, in
    /// addition to those that it is `saving`. Gives up the snapshots that are too late.
    async fn snapshots_to_save(&self, saving: &Saving) -> Result<Vec<Instance>, LoopError> {
        let now = self.0.clock.now();
        for instance in self.0.store.snapshot_overdue(now).await? {
            let target = Target::ByService(&instance.k8s_name);
            self.change_instance(target, |row| Ok(row.expire_with_snapshot(now))).await?;
        }
        let mut waiting = Vec::new();
        for instance in self.0.store.snapshot_ending().await? {
            let Some(deadline) = self.deadline(&instance) else { continue };
            if self.0.snapshots.is_none() {
                self.finish(&instance, Err(SnapshotFailure::StoreUnavailable)).await?;
            } else if deadline <= now {
                self.finish(&instance, Err(SnapshotFailure::TimeLimit)).await?;
            } else if !saving.contains_key(&instance.instance_id) {
                waiting.push(instance);
            }
        }
        let mut begun = Vec::new();
        for instance in in_turn(waiting, saving) {
            if saving.len() + begun.len() >= SAVE_CONCURRENCY {
                break;
            }
            begun.extend(self.begin(&instance, now).await?);
        }
        Ok(begun)
    }

    /// Returns the time at which an instance ends without its snapshot; `None` if it waits for no snapshot. While no launcher
    /// runs, the time does not count.
    fn deadline(&self, instance: &Instance) -> Option<Timestamp> {
        let snapshot = instance.snapshot.as_ref().filter(|_| instance.waits_for_snapshot())?;
        snapshot.deadline(self.0.started_at, *lock(&self.0.last_saved))
    }

    /// Claims the snapshot of an instance for this launcher. Returns the instance; `None` if another launcher has claimed
    /// it.
    async fn begin(&self, instance: &Instance, now: Timestamp) -> Result<Option<Instance>, ServiceError> {
        let mut has_begun = false;
        let target = Target::ByService(&instance.k8s_name);
        let row = self.change_instance(target, |row| {
            let is_same = row.instance_id == instance.instance_id;
            // Without replicas, a claim from before the start of this launcher belongs to an interrupted process.
            let earliest = if self.0.store.is_shared() { Timestamp::MIN } else { self.0.started_at };
            let begun = row.begin_snapshot(now, earliest).filter(|_| is_same);
            has_begun = begun.is_some();
            Ok(begun)
        });
        Ok(row.await?.filter(|_| has_begun))
    }

    /// Records that the snapshot is saved or has failed. An earlier attempt may have saved the files completely: then the
    /// failure of a later one does not matter.
    async fn finish(&self, instance: &Instance, outcome: Result<(), SnapshotFailure>) -> Result<(), ServiceError> {
        let is_saved = outcome.is_err() && self.0.store.snapshot_saved(instance.instance_id).await?.is_some();
        let outcome = if is_saved { Ok(()) } else { outcome };
        let target = Target::ByService(&instance.k8s_name);
        self.change_instance(target, |row| Ok(row.finish_snapshot(outcome))).await.map(drop)
    }

    /// Saves the files of an instance, and lets its Workshop be deleted. If the database fails at the end, the snapshot is
    /// saved again later, or given up.
    async fn save_and_end(&self, instance: Instance) {
        let outcome = self.save(&instance).await;
        match &outcome {
            Ok(bytes) => tracing::info!(workshop = %instance.k8s_name, bytes, "saved the files of the workshop"),
            Err(Failed { failure: SnapshotFailure::LimitReached, .. })
                if self.0.warned_owners.take(&instance.owner_email, self.0.clock.now()).is_err() => {}
            Err(Failed { failure, text, .. }) => tracing::warn!(
                workshop = %instance.k8s_name,
                owner = %instance.owner_email,
                failure = failure.as_str(),
                error = text,
                "saving the files of the workshop failed"
            ),
        }
        if let Err(error) = self.finish(&instance, outcome.map(drop).map_err(|failed| failed.failure)).await {
            tracing::warn!(workshop = %instance.k8s_name, error = %ErrorChain(&error), "recording a snapshot failed");
        }
    }

    /// Saves the files of an instance. Returns the size of the archive in bytes. Repeats failed attempts until the deadline.
    async fn save(&self, instance: &Instance) -> Result<u64, Failed> {
        let left = self.deadline(instance).map(|deadline| deadline.duration_since(self.0.clock.now()));
        let deadline = Instant::now() + left.and_then(|left| Duration::try_from(left).ok()).unwrap_or_default();
        let mut last =
            Failed { failure: SnapshotFailure::TimeLimit, text: "the time is over".to_owned(), retries: true };
        while let Ok(outcome) = timeout_at(deadline, self.save_files(instance)).await {
            last = match outcome {
                Err(failed) if failed.retries => failed,
                outcome => return outcome,
            };
            if Instant::now() + RETRY_DELAY >= deadline {
                break;
            }
            tracing::debug!(workshop = %instance.k8s_name, error = last.text, "saving the files failed, retrying");
            sleep(RETRY_DELAY).await;
        }
        Err(last)
    }

    async fn save_files(&self, instance: &Instance) -> Result<u64, Failed> {
        use SnapshotFailure::{FilesUnavailable, LimitReached, StoreUnavailable, TooLarge};
        let database = |error: StoreError| Failed::new(StoreUnavailable, &error);
        if let Some(bytes) = self.0.store.snapshot_saved(instance.instance_id).await.map_err(database)? {
            return Ok(bytes);
        }
        let held = self.0.store.snapshots_held(&instance.owner_email).await.map_err(database)?;
        if held >= MAX_PER_PERSON {
            return Err(Failed::finally(LimitReached, format!("the owner has {held} snapshots")));
        }
        let snapshots = self.0.snapshots.as_ref();
        let snapshots = snapshots.ok_or_else(|| Failed::finally(StoreUnavailable, "no object store".to_owned()))?;
        let tar = self.open_app(instance).await?;
        let saved = snapshots.store.save(instance.instance_id, to_download(tar), MAX_BYTES).await;
        let bytes = saved.map_err(|error| match error {
            SaveError::TooLarge { .. } => Failed::finally(TooLarge, error.to_string()),
            SaveError::Source(_) => Failed::new(FilesUnavailable, &error),
            SaveError::Store(_) => Failed::new(StoreUnavailable, &error),
        })?;
        let now = self.0.clock.now();
        let snapshot = Snapshot {
            snapshot_id: instance.instance_id,
            owner_email: instance.owner_email.clone(),
            template_id: instance.template_id,
            template_name: instance.settings.name.clone(),
            k8s_name: instance.k8s_name.clone(),
            bytes,
            created_at: now,
            kept_until: now.checked_add(snapshots.retention).unwrap_or(Timestamp::MAX),
        };
        if let Err(error) = self.0.store.save_snapshot(&snapshot).await {
            self.delete_unlisted(snapshots, instance).await;
            return Err(database(error));
        }
        *lock(&self.0.last_saved) = self.0.clock.now();
        Ok(bytes)
    }

    /// Deletes an archive without a row in the database: its owner could neither see nor delete it. If replicas share the
    /// database, the archive stays, because another replica may be saving the same files.
    async fn delete_unlisted(&self, snapshots: &Snapshots, instance: &Instance) {
        if self.0.store.is_shared() {
            return;
        }
        if let Ok(None) = self.0.store.snapshot_saved(instance.instance_id).await
            && let Err(error) = snapshots.store.delete(instance.instance_id).await
        {
            tracing::warn!(workshop = %instance.k8s_name, error = %ErrorChain(&error), "deleting an archive failed");
        }
    }

    /// Opens the archive of the app's files.
    async fn open_app(&self, instance: &Instance) -> Result<ByteStream, Failed> {
        use SnapshotFailure::FilesUnavailable;
        let fleet = self.fleet_of(instance).map_err(|error| Failed::new(FilesUnavailable, &error))?;
        let (Some(archives), Some(snapshot)) = (fleet.archives(), &instance.snapshot) else {
            return Err(Failed::finally(FilesUnavailable, "the fleet cannot read the files".to_owned()));
        };
        let opened = archives.read_app(&instance.k8s_name, &snapshot.token).await;
        opened.map_err(|error| match error {
            ReadError::Fleet(FleetError::Refused(text)) => Failed::finally(FilesUnavailable, text),
            error => Failed::new(FilesUnavailable, &error),
        })
    }
}

/// Returns the waiting instances in the order in which their files are saved: the earliest end first, and one instance of
/// each owner before the second one of any owner. One person with many large workshops does not delay all others.
fn in_turn(mut waiting: Vec<Instance>, saving: &Saving) -> Vec<Instance> {
    let mut taken: HashMap<EmailAddress, usize> = HashMap::new();
    for owner in saving.values() {
        *taken.entry(owner.clone()).or_default() += 1;
    }
    let since = |instance: &Instance| instance.snapshot.as_ref().and_then(|snapshot| snapshot.pending_since);
    waiting.sort_by_key(|instance| (since(instance), instance.instance_id));
    let mut ranked = Vec::new();
    for instance in waiting {
        let earlier = taken.entry(instance.owner_email.clone()).or_default();
        ranked.push((*earlier, instance));
        *earlier += 1;
    }
    ranked.sort_by_key(|(earlier, _)| *earlier);
    ranked.into_iter().map(|(_, instance)| instance).collect()
}

/// Failure of an attempt to save the files of an instance.
struct Failed {
    failure: SnapshotFailure,
    /// Description for administrators.
    text: String,
    /// True if another attempt may succeed.
    retries: bool,
}

impl Failed {
    /// Returns a failure after which another attempt may succeed.
    fn new(failure: SnapshotFailure, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { failure, text: ErrorChain(error).to_string(), retries: true }
    }

    /// Returns a failure that another attempt would repeat.
    fn finally(failure: SnapshotFailure, text: String) -> Self {
        Self { failure, text, retries: false }
    }
}
