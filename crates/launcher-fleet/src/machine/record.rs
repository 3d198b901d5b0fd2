//! The record of one Workshop: in memory, on disk and in the watch cache. The disk has one file for each record, which is
//! replaced atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::crash::CrashHistory;
use launcher_domain::sync::lock;
use launcher_domain::{Crash, FailureReason, ListensElsewhere, Report, SecretValues, StartStep};
use launcher_workshop::lifecycle::{Action, App, AppCrash, Decision, Observed, Start, Workload, decide};
use launcher_workshop::{Phase, Workshop, WorkshopRestore, WorkshopStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::files::{Layout, if_exists, make_private, remove_directory, replace_file, sync_directory};
use super::origins::OriginSettings;
use super::watch_cache::WatchCache;

/// The Workshop and its process, as stored in its state file. `P` describes the process; it is `()` for a fleet that
/// finds its workloads by their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record<P> {
    /// The Workshop resource. A `deletionTimestamp` in it marks a deletion in progress.
    pub(crate) workshop: Workshop,
    /// Values of the variables in `spec.secretEnv`. The Workshop does not contain them, so watchers do not see them.
    #[serde(default, skip_serializing_if = "SecretValues::is_empty")]
    pub(crate) secrets: SecretValues,
    /// The app's process. `None` before the start, and after the launcher has seen the exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<P>,
    /// The final status of a Workshop whose workload is being removed. It becomes the Workshop's status after the removal.
    /// A launcher that is killed in between leaves the cause to its successor, which finds no workload to examine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) final_status: Option<Box<WorkshopStatus>>,
    /// True once the files of `spec.restore` are placed: the app never starts before, and they are never placed again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_restored: bool,
    /// The recent crashes of an app that was started again in place.
    #[serde(default, skip_serializing_if = "CrashHistory::is_empty")]
    pub(crate) crashes: CrashHistory,
}

impl<P: Clone> Record<P> {
    /// Returns the expiry of the Workshop; `None` before it was ready.
    pub(crate) fn expiry(&self) -> Option<Timestamp> {
        self.workshop.spec.expiry(self.status().ready_at)
    }

    /// Returns the saved files that are still to be placed.
    pub(crate) fn pending_restore(&self) -> Option<&WorkshopRestore> {
        self.workshop.spec.restore.as_ref().filter(|_| !self.is_restored)
    }

    /// Returns the status of the Workshop, or the default status if it has none.
    pub(crate) fn status(&self) -> WorkshopStatus {
        self.workshop.status.clone().unwrap_or_default()
    }

    /// True once the end is decided: the Workshop is being deleted, or its status is final.
    pub(crate) fn is_ending(&self) -> bool {
        self.workshop.metadata.deletion_timestamp.is_some() || self.status().phase.is_final()
    }

    /// Decides what follows from an observation, and sets the next status. A final status is not set: the fleet ends the
    /// workload first.
    pub(crate) fn observe(&mut self, observed: impl Into<Observed>, now: Timestamp) -> Decision {
        let decision = decide(&self.workshop, observed.into(), now);
        if !decision.status.phase.is_final() {
            self.workshop.status = Some(decision.status.clone());
        }
        decision
    }

    /// Observes a crash of the app, whose files are kept. If the app starts again, its recent crashes are stored.
    pub(crate) fn observe_crash(&mut self, reason: &FailureReason, now: Timestamp) -> Decision {
        let mut history = self.crashes.clone();
        history.record(now);
        let crash = Crash { at: now, code: reason.code, files_lost: false };
        let crash = AppCrash { crash, history: history.clone(), failure: reason.clone().into() };
        let decision = self.observe(Workload { crash: Some(crash), ..Workload::of(App::Ended) }, now);
        if decision.action == Action::Restart {
            self.crashes = history;
        }
        decision
    }

    /// Observes the addresses on which a starting app listens instead of its port.
    pub(super) fn observe_listening(&mut self, listens_elsewhere: Option<ListensElsewhere>, now: Timestamp) {
        if let WorkshopStatus { phase: Phase::Starting, report: Report { start_step: Some(step), .. }, .. } =
            self.status()
        {
            let report = Report { listens_elsewhere, ..Report::default() };
            self.observe(Workload { report, ..starting(step) }, now);
        }
    }
}

/// The observation of a workload at this step of its start.
pub(crate) fn starting(step: StartStep) -> Workload {
    Workload::of(App::Starting(Start::at(step)))
}

/// The observation of a workload whose app answers at these URLs.
pub(crate) fn ready(urls: Report) -> Workload {
    Workload { report: urls, ..Workload::of(App::Ready) }
}

/// Describes the process of a workload in its stored record.
pub(crate) trait Process: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<P: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Process for P {}

/// Delay before the supervisor retries a failed write or removal of a record.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum number of failed attempts after the fleet begins to stop. The change is then lost for the next launcher.
const LAST_RETRIES: u32 = 3;

/// The record of one Workshop. Each change is on disk before other tasks and watchers see it.
pub(crate) struct StoredRecord<P> {
    name: String,
    layout: Layout,
    /// Cancelled when the fleet begins to stop.
    closing: CancellationToken,
    cache: Arc<WatchCache>,
    record: Mutex<Record<P>>,
    /// Serializes the changes of the record in the order of their calls.
    update_lock: Arc<tokio::sync::Mutex<()>>,
}

impl<P: Process> StoredRecord<P> {
    pub(crate) fn new(
        name: String,
        layout: Layout,
        closing: CancellationToken,
        cache: Arc<WatchCache>,
        record: Record<P>,
    ) -> Arc<Self> {
        Arc::new(Self { name, layout, closing, cache, record: Mutex::new(record), update_lock: Arc::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn get(&self) -> Record<P> {
        lock(&self.record).clone()
    }

    pub(crate) fn workshop(&self) -> Workshop {
        lock(&self.record).workshop.clone()
    }

    pub(crate) fn phase(&self) -> Phase {
        lock(&self.record).status().phase
    }

    /// Waits until the changes in progress have finished.
    pub(crate) async fn wait_for_update(self: &Arc<Self>) {
        // Ignore the error: this fails only while the program is ending.
        let _: Result<(), JoinError> = self.update_with(|_| Ok(())).await;
    }

    /// Writes the record to the disk without a change.
    pub(crate) async fn store(self: &Arc<Self>) -> Result<(), StateError> {
        let stored = Arc::clone(self);
        self.update_with(move |record| save_record(&stored.layout, &stored.name, record)).await
    }

    /// Changes the record: first on disk, then in memory and in the watch cache. If the write fails, nothing changes.
    pub(crate) async fn update<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Record<P>) -> T + Send + 'static,
    ) -> Result<T, StateError> {
        let stored = Arc::clone(self);
        self.update_with(move |record| {
            let mut next = record.clone();
            let outcome = change(&mut next);
            stored.replace(record, next)?;
            Ok(outcome)
        })
        .await
    }

    /// Changes the record, and retries after failed writes. Returns `None` if the fleet stops before a write succeeds: the old
    /// record stays on disk. The next launcher then finds that the recorded process is gone.
    pub(crate) async fn settle<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl Fn(&mut Record<P>) -> T + Clone + Send + 'static,
    ) -> Option<T> {
        self.persist(|| self.update(change.clone())).await
    }

    /// Runs a blocking operation on a copy of the record, and then stores the copy in memory. After that, it sends a changed
    /// Workshop to the watches, so code that handles the watch event reads the new record. Operations run one after the
    /// other. If the caller is cancelled while it waits for an earlier operation, nothing changes. If the caller is cancelled
    /// later, the operation still completes.
    ///
    /// The mutex `record` is not locked during the operation, because the operation may wait for the runtime. If a
    /// runtime thread waited for the mutex meanwhile, both could wait forever.
    pub(crate) async fn update_with<T: Send + 'static, E: From<JoinError> + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Record<P>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let guard = Arc::clone(&self.update_lock).lock_owned().await;
        let stored = Arc::clone(self);
        let work = move || {
            let _guard = guard;
            let mut record = stored.get();
            let outcome = work(&mut record);
            stored.publish(record);
            outcome
        };
        spawn_blocking(work).await?
    }

    /// Replaces the record in memory, and then reports a changed Workshop to the watches.
    fn publish(&self, next: Record<P>) {
        let workshop = next.workshop.clone();
        let former = std::mem::replace(&mut *lock(&self.record), next);
        if workshop != former.workshop {
            self.cache.insert(workshop);
        }
    }

    /// Replaces a copy of the record, after it has written the new one to the disk.
    pub(crate) fn replace(&self, record: &mut Record<P>, next: Record<P>) -> Result<(), StateError> {
        if next != *record {
            save_record(&self.layout, &self.name, &next)?;
            *record = next;
        }
        Ok(())
    }

    /// Decides what follows from an observation, and stores the next status, unless it ends the workshop.
    pub(crate) async fn observe(self: &Arc<Self>, observed: impl Into<Observed>, now: Timestamp) -> Decision {
        let observed = observed.into();
        let record = self.get();
        let decision = decide(&record.workshop, observed.clone(), now);
        if decision.status == record.status() || decision.status.phase.is_final() {
            return decision;
        }
        // With the current spec: it may change until the record is locked.
        self.settle(move |record| record.observe(observed.clone(), now)).await.unwrap_or(decision)
    }

    /// Updates the status of a Workshop that an earlier launcher started. `is_ready` is false if the app has exited or
    /// no longer listens on its port. The URL is set again, because the launcher's public origin may have changed.
    pub(crate) fn adopt(&self, is_ready: bool, origins: &OriginSettings, now: Timestamp) -> Result<(), StateError> {
        let mut record = self.get();
        let mut next = record.clone();
        if is_ready {
            next.observe(ready(origins.urls(&self.name)), now);
        } else if record.status().phase != Phase::Pending {
            next.observe(starting(StartStep::StartingApp), now);
        }
        self.replace(&mut record, next)?;
        self.publish(record);
        Ok(())
    }

    /// Removes the record permanently. Returns false if the fleet stopped before the removal succeeded.
    pub(crate) async fn remove(self: &Arc<Self>) -> bool {
        self.persist(|| {
            let stored = Arc::clone(self);
            self.update_with(move |_| remove_record(&stored.layout, &stored.name))
        })
        .await
        .is_some()
    }

    /// Retries a change of the record until it succeeds. After the fleet has begun to stop, it gives up after
    /// [`LAST_RETRIES`] failures, and returns `None`.
    async fn persist<T, D: Future<Output = Result<T, StateError>>>(&self, change: impl Fn() -> D) -> Option<T> {
        let mut last_retries = LAST_RETRIES;
        loop {
            let error = match change().await {
                Ok(outcome) => return Some(outcome),
                Err(error) => error,
            };
            tracing::error!(workshop = self.name, %error, "writing or removing a Workshop record failed");
            if self.closing.is_cancelled() {
                last_retries -= 1;
            }
            if last_retries == 0 {
                return None;
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    #[error("{path} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    /// The blocking task did not finish, because the program is ending or the task panicked.
    #[error("writing the state of a Workshop was aborted: {0}")]
    Aborted(#[from] tokio::task::JoinError),
}

/// Writes a record atomically. After a crash of the launcher or the machine, the disk has the old or the new record.
pub(crate) fn save_record<P: Serialize>(layout: &Layout, name: &str, record: &Record<P>) -> Result<(), StateError> {
    let path = layout.state(name);
    let write = || {
        if !layout.record(name).is_dir() {
            make_private(&layout.record(name))?;
            sync_directory(&layout.records())?;
        }
        let json = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
        replace_file(&path, &json)
    };
    write().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Removes a record and its state directory, the state file first. If the launcher is killed in between, the next start
/// removes the rest of the directory.
fn remove_record(layout: &Layout, name: &str) -> Result<(), StateError> {
    let path = layout.state(name);
    let take = || {
        if_exists(fs::remove_file(&path))?;
        remove_directory(&layout.record(name))?;
        sync_directory(&layout.records())
    };
    take().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Reads all records. Renames and logs an unreadable record, so that the other records load. Removes a state directory
/// without a record: an interrupted creation or deletion left it.
pub(crate) fn load_records<P: DeserializeOwned>(layout: &Layout) -> io::Result<Vec<(String, Record<P>)>> {
    let mut records = Vec::new();
    for entry in fs::read_dir(layout.records())? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        let path = layout.state(&name);
        match if_exists(fs::read(&path))?.map(|json| serde_json::from_slice(&json)) {
            Some(Ok(record)) => records.push((name, record)),
            Some(Err(error)) => set_aside(&path, &error)?,
            None => clear_directory(layout, &name),
        }
    }
    Ok(records)
}

fn set_aside(path: &Path, error: &serde_json::Error) -> io::Result<()> {
    let aside = path.with_extension("json.unreadable");
    tracing::error!(path = %aside.display(), %error, "Workshop record is unreadable, renaming it");
    fs::rename(path, aside)
}

fn clear_directory(layout: &Layout, name: &str) {
    let left = layout.record(name);
    if layout.state(name).with_extension("json.unreadable").exists() {
        return;
    }
    if let Err(error) = remove_directory(&left) {
        tracing::error!(path = %left.display(), %error, "removing the state directory of a deleted Workshop failed");
    }
}
