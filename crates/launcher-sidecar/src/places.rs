//! Places: a bounded number of connections. When they are taken, a new connection displaces the one that matters least, so
//! that clients which hold theirs cannot keep the owner out.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::memory::PLACES;

/// With fewer free places, connections are ended, so that accepting one does not wait for another to end.
const SPARE: usize = 6;
/// Places that are free afterwards: many may come at once.
const ROOM: usize = 16;
/// Connections without an accepted request that stay when connections with one have to go: a head may be on its way.
const UNPROVEN: usize = 32;
/// Bytes that count as moved at the start, so that a connection is not displaced before it could move any.
const CREDIT_TRANSFER: u64 = 64 * 1024;
const CREDIT_IDLE: u64 = 1024 * 1024;
const CREDIT_OTHER: u64 = 64 * 1024 * 1024;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Doing {
    /// No request of it was let through yet.
    Unproven,
    /// It waits for its next request.
    Idle,
    /// It waits for the app, or for nothing.
    Serving,
    /// It waits for the client to send or to take bytes.
    Transfer,
}

/// What a connection is doing and since when, for whoever may have to displace it.
#[derive(Debug)]
pub(crate) struct Progress {
    opened: Instant,
    doing: AtomicU8,
    /// Microseconds from `opened`.
    since: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            opened: Instant::now(),
            doing: AtomicU8::new(Doing::Unproven as u8),
            since: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Notes what the connection does as of `now`, with no bytes moved.
    pub(crate) fn enter(&self, doing: Doing, now: Instant) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.touch(now);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Notes that a response is complete, and that the next request may come.
    pub(crate) fn idle(&self, now: Instant) {
        if !self.is_unproven() {
            self.enter(Doing::Idle, now);
        }
    }

    /// Notes what the connection does, in the exchange that it was in before.
    pub(crate) fn turn(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Notes that the connection was in use `now`.
    pub(crate) fn touch(&self, now: Instant) {
        let micros = now.saturating_duration_since(self.opened).as_micros();
        self.since.store(u64::try_from(micros).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Notes that `count` bytes moved. Only the connection itself writes, so that no addition is lost.
    pub(crate) fn moved(&self, count: usize) {
        self.bytes.store(self.bytes.load(Ordering::Relaxed).saturating_add(count as u64), Ordering::Relaxed);
    }

    fn is_unproven(&self) -> bool {
        self.doing.load(Ordering::Relaxed) == Doing::Unproven as u8
    }

    /// Bytes per second, as far as they can be compared between connections that do different things.
    fn worth(&self, now: Instant) -> f64 {
        let doing = self.doing.load(Ordering::Relaxed);
        let credit = if doing == Doing::Transfer as u8 {
            CREDIT_TRANSFER.saturating_add(self.bytes.load(Ordering::Relaxed))
        } else if doing == Doing::Idle as u8 {
            CREDIT_IDLE
        } else {
            CREDIT_OTHER
        };
        let since = self.opened + Duration::from_micros(self.since.load(Ordering::Relaxed));
        #[expect(clippy::cast_precision_loss, reason = "it only orders connections")]
        let credit = credit as f64;
        credit / (now.saturating_duration_since(since).as_secs_f64() + 0.01)
    }
}

/// All places of a listener.
#[derive(Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    taken: Mutex<Vec<Arc<Taken>>>,
}

#[derive(Debug)]
struct Taken {
    progress: Arc<Progress>,
    task: OnceLock<AbortHandle>,
    /// It was told to end, and has not yet.
    is_ending: AtomicBool,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
struct Place {
    places: Arc<Places>,
    taken: Arc<Taken>,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(PLACES)), taken: Mutex::default() })
    }

    /// A free place, for a connection that is still to come.
    pub(crate) async fn reserve(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().acquire_owned().await.ok()
    }

    /// Serves a connection as a task that the stop waits for, and that may be displaced.
    pub(crate) fn spawn<F>(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        stop: &Stop,
        serve: impl FnOnce(Arc<Progress>) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let progress = Arc::new(Progress::new());
        let taken =
            Arc::new(Taken { progress: progress.clone(), task: OnceLock::new(), is_ending: AtomicBool::new(false) });
        self.lock().push(taken.clone());
        let place = Place { places: self.clone(), taken: taken.clone(), _permit: permit };
        let serving = serve(progress);
        // Boxed, because the task would otherwise hold the connection's whole state twice.
        let task = stop.track(Box::pin(async move {
            serving.await;
            drop(place);
        }));
        drop(taken.task.set(task.abort_handle()));
    }

    /// Ends connections until enough places are free. Returns how many; their places are free once their tasks are dropped.
    pub(crate) fn make_room(&self, now: Instant) -> usize {
        let free = self.free.available_permits();
        if free >= SPARE {
            return 0;
        }
        let taken = self.lock();
        let (ending, mut staying): (Vec<_>, Vec<_>) = taken.iter().partition(|taken| taken.is_ending());
        let mut ended = 0;
        if free + ending.len() >= SPARE {
            return 0;
        }
        for _ in free + ending.len()..ROOM {
            let Some(least) = least(&staying, now) else { break };
            staying.swap_remove(least).end();
            ended += 1;
        }
        ended
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Taken>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if let Some(index) = taken.iter().position(|taken| Arc::ptr_eq(taken, &self.taken)) {
            taken.swap_remove(index);
        }
    }
}

/// The connection to end first: the oldest of those without an accepted request, if there are many of them; else the one
/// that is worth least.
fn least(staying: &[&Arc<Taken>], now: Instant) -> Option<usize> {
    let unproven = || staying.iter().enumerate().filter(|(_, taken)| taken.progress.is_unproven());
    let oldest = || unproven().min_by_key(|(_, taken)| taken.progress.opened).map(|(index, _)| index);
    if unproven().count() > UNPROVEN {
        return oldest();
    }
    let proven = staying.iter().enumerate().filter(|(_, taken)| !taken.progress.is_unproven());
    let worth = proven.map(|(index, taken)| (index, taken.progress.worth(now)));
    worth.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index).or_else(oldest)
}
