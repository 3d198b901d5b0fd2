//! The record of one Workshop: in memory, on disk and in the watch cache.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::sync::lock;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::task::{JoinError, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::layout::Layout;
use super::process::Process;
use super::record::Record;
use super::store::{StateError, remove, save};
use super::watch_cache::WatchCache;
use crate::machine::origins::OriginSettings;

/// Delay before the supervisor retries a failed write or removal of a record.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum number of failed attempts after the fleet begins to stop. The change is then lost for the next launcher.
const LAST_RETRIES: u32 = 3;

/// The record of one Workshop. Each change is on disk before other tasks and watchers see it.
#[derive(Debug)]
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
        self.update_with(move |record| save(&stored.layout, &stored.name, record)).await
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

    /// Changes the record, and retries after failed writes. If the fleet stops before a write succeeds, the old record
    /// stays on disk. The next launcher then finds that the recorded process is gone.
    pub(crate) async fn settle(self: &Arc<Self>, change: impl Fn(&mut Record<P>) + Clone + Send + 'static) {
        self.persist(|| self.update(change.clone())).await;
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
            save(&self.layout, &self.name, &next)?;
            *record = next;
        }
        Ok(())
    }

    /// Updates the status of a Workshop that an earlier launcher started. `is_ready` is false if the app has exited or
    /// no longer listens on its port. The URL is set again, because the launcher's public origin may have changed.
    pub(crate) fn adopt(&self, is_ready: bool, origins: &OriginSettings) -> Result<(), StateError> {
        let mut record = self.get();
        let mut next = record.not_ready();
        if is_ready {
            let (url, frame_url) = (Some(origins.url(&self.name)), Some(origins.frame_url(&self.name)));
            next.set_status(WorkshopStatus { url, frame_url, ..record.status() });
        }
        self.replace(&mut record, next)?;
        self.publish(record);
        Ok(())
    }

    /// Removes the record permanently. Returns false if the fleet stopped before the removal succeeded.
    pub(crate) async fn remove(self: &Arc<Self>) -> bool {
        self.persist(|| {
            let stored = Arc::clone(self);
            self.update_with(move |_| remove(&stored.layout, &stored.name))
        })
        .await
    }

    /// Retries a change of the record until it succeeds. After the fleet has begun to stop, it gives up after
    /// [`LAST_RETRIES`] failures. Returns true on success.
    async fn persist<D: Future<Output = Result<(), StateError>>>(&self, change: impl Fn() -> D) -> bool {
        let mut last_retries = LAST_RETRIES;
        while let Err(error) = change().await {
            tracing::error!(workshop = self.name, %error, "writing or removing a Workshop record failed");
            if self.closing.is_cancelled() {
                last_retries -= 1;
            }
            if last_retries == 0 {
                return false;
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        true
    }
}
