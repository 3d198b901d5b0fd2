//! One Workshop of the fleet: its record, its desired state, and the sidecar in front of its app.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use launcher_sidecar::{Policy, Sidecar};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio::sync::watch;

use super::Context;
use super::board::Board;
use super::login::Login;
use super::ports::Lease;
use super::process::Numbered;
use super::state::{self, Record, Started, StateError};

/// Delay before a failed write or removal of a file is retried.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// Number of retries once the fleet stops. The next launcher starts without that change.
const LAST_TRIES: u32 = 3;

/// Desired state of a Workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    /// It runs.
    Run,
    /// Its processes are terminated. The Workshop stays for the next launcher.
    Rest,
    /// It is deleted with its processes and its files.
    Delete,
}

/// One Workshop of the fleet.
#[derive(Debug)]
pub(super) struct Shop {
    name: String,
    context: Arc<Context>,
    board: Arc<Board>,
    record: Mutex<Record>,
    /// Serializes changes of the record, first come, first served.
    turn: Arc<tokio::sync::Mutex<()>>,
    wish: watch::Sender<Wish>,
    door: Mutex<Option<Door>>,
    /// The port of its app, while any of its processes may run.
    port: Mutex<Option<Lease>>,
}

/// The proxy to a running app.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) sidecar: Sidecar,
    /// The login to an app that requires a token.
    pub(super) login: Option<Arc<Login>>,
}

/// Locks a mutex, also after a panic: values are replaced as a whole, so a panicked thread leaves no partial change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shop {
    pub(super) fn new(name: String, context: Arc<Context>, board: Arc<Board>, record: Record) -> Self {
        let wish = if record.workshop.metadata.deletion_timestamp.is_some() { Wish::Delete } else { Wish::Run };
        // Processes of an earlier launcher keep their port until they are gone.
        let port = Mutex::new(record.process.as_ref().and_then(|started| context.ports.hold(started.port)));
        let (record, wish) = (Mutex::new(record), watch::Sender::new(wish));
        Self { name, context, board, record, turn: Arc::default(), wish, door: Mutex::new(None), port }
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
        format!("{}/{}/{uid}", self.context.place_id, self.name)
    }

    /// Identifies its processes: their marker, and the leader of their group.
    pub(super) fn kin(&self) -> (String, Option<Numbered>) {
        let record = self.record();
        let leader = record.process.as_ref().and_then(|started| started.leader.of_this_boot());
        (self.marker_of(&record), leader)
    }

    pub(super) fn wish_for(&self, wish: Wish) {
        // Never back: a deletion is permanent.
        self.wish.send_if_modified(|current| {
            let further = wish > *current;
            *current = (*current).max(wish);
            further
        });
    }

    pub(super) fn wishes(&self) -> watch::Receiver<Wish> {
        self.wish.subscribe()
    }

    pub(super) fn wish(&self) -> Wish {
        *self.wish.borrow()
    }

    /// The proxy to the app, while it runs.
    pub(super) fn door(&self) -> Option<Door> {
        lock(&self.door).clone()
    }

    /// Attaches the proxy: the owner has access to the app.
    pub(super) fn open_door(&self, started: &Started) {
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
        *lock(&self.door) = Some(Door { sidecar: Sidecar::new(policy, app), login });
    }

    /// Detaches the proxy, because another program may soon have the port.
    pub(super) fn close_door(&self) {
        *lock(&self.door) = None;
    }

    /// Holds the port of an app that is about to start.
    pub(super) fn keep_port(&self, lease: Lease) {
        *lock(&self.port) = Some(lease);
    }

    /// Releases the port after the last process is gone.
    pub(super) fn release_port(&self) {
        *lock(&self.port) = None;
    }

    /// Writes the record unchanged.
    pub(super) async fn store(self: &Arc<Self>) -> Result<(), StateError> {
        self.update_with(|shop, record| state::save(&shop.context.layout, &shop.name, record)).await
    }

    /// Changes the record. The change is on disk before it is visible; on failure nothing changes.
    pub(super) async fn update<T: Send + 'static>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut Record) -> T + Send + 'static,
    ) -> Result<T, StateError> {
        self.update_with(move |shop, record| {
            let mut next = record.clone();
            let outcome = change(&mut next);
            shop.replace(record, next)?;
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
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let shop = Arc::clone(self);
        let work = move || {
            let _turn = turn;
            work(&shop, &mut lock(&shop.record))
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
            self.board.applied(next.workshop.clone());
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
        self.persist(|| self.update_with(|shop, _| state::remove(&shop.context.layout, &shop.name))).await
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
