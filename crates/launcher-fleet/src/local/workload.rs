//! One Workshop of the fleet: its record, its desired state, and the sidecar in front of its app.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use launcher_sidecar::{Policy, Sidecar};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::sync::watch;

use super::Context;
use super::login::Login;
use super::ports::PortLease;
use super::process::ProcessId;
use super::state::{self, Record, Started, StateError};
use super::watch_cache::WatchCache;

/// Delay before a failed write or removal of a file is retried.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Number of retries once the fleet stops. The next launcher starts without that change.
const LAST_TRIES: u32 = 3;

/// Desired state of a Workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DesiredState {
    /// It runs.
    Running,
    /// Its processes are terminated. The Workshop stays for the next launcher.
    Stopped,
    /// It is deleted with its processes and its files.
    Deleted,
}

/// One Workshop of the fleet.
#[derive(Debug)]
pub(super) struct Workload {
    name: String,
    context: Arc<Context>,
    cache: Arc<WatchCache>,
    record: Mutex<Record>,
    /// Serializes changes of the record, first come, first served.
    update_lock: Arc<tokio::sync::Mutex<()>>,
    desired_state: watch::Sender<DesiredState>,
    proxy: Mutex<Option<AppProxy>>,
    /// The port of its app, while any of its processes may run.
    port: Mutex<Option<PortLease>>,
}

/// The proxy to a running app.
#[derive(Debug, Clone)]
pub(super) struct AppProxy {
    pub(super) sidecar: Sidecar,
    /// The login to an app that requires a token.
    pub(super) login: Option<Arc<Login>>,
}

/// Locks a mutex, also after a panic: values are replaced as a whole, so a panicked thread leaves no partial change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workload {
    pub(super) fn new(name: String, context: Arc<Context>, cache: Arc<WatchCache>, record: Record) -> Self {
        let desired_state = if record.workshop.metadata.deletion_timestamp.is_some() {
            DesiredState::Deleted
        } else {
            DesiredState::Running
        };
        // Processes of an earlier launcher keep their port until they are gone.
        let port = Mutex::new(record.process.as_ref().and_then(|started| context.ports.reserve(started.port)));
        let (record, desired_state) = (Mutex::new(record), watch::Sender::new(desired_state));
        Self { name, context, cache, record, update_lock: Arc::default(), desired_state, proxy: Mutex::new(None), port }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn record(&self) -> Record {
        lock(&self.record).clone()
    }

    /// The record, after a change in progress has finished.
    pub(super) async fn settled_record(self: &Arc<Self>) -> Record {
        let read = self.update_with(|_, record| Ok::<_, StateError>(record.clone()));
        read.await.unwrap_or_else(|_| self.record())
    }

    pub(super) fn workshop(&self) -> Workshop {
        lock(&self.record).workshop.clone()
    }

    pub(super) fn marker(&self) -> String {
        self.marker_of(&self.record())
    }

    /// The marker in the environment of every process of this Workshop, and of no other: a later Workshop of the same
    /// name has another uid.
    pub(super) fn marker_of(&self, record: &Record) -> String {
        let uid = record.workshop.metadata.uid.as_deref().unwrap_or_default();
        format!("{}/{}/{uid}", self.context.data_dir_id, self.name)
    }

    /// Identifies its processes: their marker, and the leader of their group.
    pub(super) fn marker_and_leader(&self) -> (String, Option<ProcessId>) {
        let record = self.record();
        let leader = record.process.as_ref().and_then(|started| started.leader.of_this_boot());
        (self.marker_of(&record), leader)
    }

    pub(super) fn set_desired_state(&self, desired_state: DesiredState) {
        // Never back: a deletion is permanent.
        self.desired_state.send_if_modified(|current| {
            let further = desired_state > *current;
            *current = (*current).max(desired_state);
            further
        });
    }

    pub(super) fn watch_desired_state(&self) -> watch::Receiver<DesiredState> {
        self.desired_state.subscribe()
    }

    pub(super) fn desired_state(&self) -> DesiredState {
        *self.desired_state.borrow()
    }

    /// The proxy to the app, while it runs.
    pub(super) fn proxy(&self) -> Option<AppProxy> {
        lock(&self.proxy).clone()
    }

    /// Attaches the proxy: the owner has access to the app.
    pub(super) fn attach_proxy(&self, started: &Started) {
        let settings = &self.context.settings;
        let Some(owner) = self.workshop().spec.owner_email() else { return };
        let policy = Policy {
            owner,
            trusted_header: settings.trusted_header.clone(),
            require_authentication: settings.require_authentication,
            session_cookie_prefix: settings.session_cookie_prefix.clone(),
            proxy_secret: None,
        };
        let app = SocketAddr::from((Ipv4Addr::LOCALHOST, started.port));
        let login = |token| Arc::new(Login::new(app, settings.host(&self.name), token));
        let login = started.token.clone().map(login);
        *lock(&self.proxy) = Some(AppProxy { sidecar: Sidecar::new(policy, app), login });
    }

    /// Detaches the proxy, because another program may soon have the port.
    pub(super) fn detach_proxy(&self) {
        *lock(&self.proxy) = None;
    }

    /// Holds the port of an app that is about to start.
    pub(super) fn keep_port(&self, lease: PortLease) {
        *lock(&self.port) = Some(lease);
    }

    /// Releases the port after the last process is gone.
    pub(super) fn release_port(&self) {
        *lock(&self.port) = None;
    }

    /// Writes the record unchanged.
    pub(super) async fn store(self: &Arc<Self>) -> Result<(), StateError> {
        self.update_with(|workload, record| state::save(&workload.context.layout, &workload.name, record)).await
    }

    /// Changes the record. The change is on disk before it is visible; on failure nothing changes.
    pub(super) async fn update<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Record) -> T + Send + 'static,
    ) -> Result<T, StateError> {
        self.update_with(move |workload, record| {
            let mut next = record.clone();
            let outcome = change(&mut next);
            workload.replace(record, next)?;
            Ok(outcome)
        })
        .await
    }

    /// Changes the record, and retries while the disk refuses. If the fleet stops before that succeeds, the record
    /// stays stale: the next launcher finds its process gone.
    pub(super) async fn settle(self: &Arc<Self>, change: impl Fn(&mut Record) + Clone + Send + 'static) {
        self.persist(|| self.update(change.clone())).await;
    }

    /// Runs a blocking operation with the record locked. Once it has the lock it completes, even if the caller is
    /// cancelled. If the caller is cancelled earlier, nothing changes.
    pub(super) async fn update_with<T: Send + 'static, E: From<tokio::task::JoinError> + Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &mut Record) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let guard = Arc::clone(&self.update_lock).lock_owned().await;
        let workload = Arc::clone(self);
        let work = move || {
            let _guard = guard;
            work(&workload, &mut lock(&workload.record))
        };
        tokio::task::spawn_blocking(work).await?
    }

    /// Replaces a record: on disk first, then visibly.
    pub(super) fn replace(&self, record: &mut Record, next: Record) -> Result<(), StateError> {
        if next == *record {
            return Ok(());
        }
        state::save(&self.context.layout, &self.name, &next)?;
        if next.workshop != record.workshop {
            self.cache.insert(next.workshop.clone());
        }
        *record = next;
        Ok(())
    }

    /// The phase of the Workshop.
    pub(super) fn phase(&self) -> Phase {
        lock(&self.record).status().phase
    }

    /// Takes over a Workshop of an earlier launcher. The launcher's address, and so the Workshop's, may have changed.
    /// It is not ready if its app has exited or no longer listens on its port.
    pub(super) fn adopt(&self, is_ready: bool) -> Result<(), StateError> {
        let mut record = lock(&self.record);
        let mut next = record.not_ready();
        if is_ready {
            let url = Some(self.context.settings.url(&self.name));
            next.set_status(WorkshopStatus { url, ..record.status() });
        }
        self.replace(&mut record, next)
    }

    /// Removes its record permanently. Returns false if the fleet stopped before that succeeded.
    pub(super) async fn remove(self: &Arc<Self>) -> bool {
        self.persist(|| self.update_with(|workload, _| state::remove(&workload.context.layout, &workload.name))).await
    }

    /// Retries a change of the record until it succeeds, or until the fleet stops and a few more retries have failed.
    /// Returns true on success.
    async fn persist<D: Future<Output = Result<(), StateError>>>(&self, change: impl Fn() -> D) -> bool {
        let mut last_tries = LAST_TRIES;
        while let Err(error) = change().await {
            tracing::error!(workshop = self.name, %error, "updating Workshop record failed");
            if self.context.closing.is_cancelled() {
                last_tries -= 1;
            }
            if last_tries == 0 {
                return false;
            }
            tokio::time::sleep(WRITE_PAUSE).await;
        }
        true
    }
}
