//! Connection limit. When all places are taken, a new connection displaces the least valuable one, so that clients
//! which hold their connections cannot lock out the owner.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::memory::PLACES;

/// Minimum number of free places. Below it, connections are displaced, so that an accept does not wait for one to end.
const SPARE: usize = 6;
/// Number of free places after displacement: many connections may arrive at once.
const ROOM: usize = 16;
/// Number of connections without an admitted request that stay while others are displaced: a head may be in flight.
const UNPROVEN: usize = 32;
/// Bytes credited at the start, so that a connection is not displaced before it could move any.
const CREDIT_TRANSFER: u64 = 64 * 1024;
const CREDIT_IDLE: u64 = 1024 * 1024;
const CREDIT_OTHER: u64 = 64 * 1024 * 1024;

/// Activity of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Doing {
    /// No request has been admitted yet.
    Unproven,
    /// Waits for the next request.
    Idle,
    /// Waits for the app, or for neither side.
    Serving,
    /// Waits for the client to send or take bytes, or, in a stalled WebSocket, for either side.
    Transfer,
}

/// Activity of a connection and its start time. Displacement compares connections by it.
#[derive(Debug)]
pub(crate) struct Progress {
    opened: Instant,
    doing: AtomicU8,
    /// Microseconds after `opened`.
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

    /// Starts an activity at `now`, with a byte count of zero.
    pub(crate) fn enter(&self, doing: Doing, now: Instant) {
        self.doing.store(doing as u8, Ordering::Relaxed);
        self.touch(now);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Records that a response is complete, and that the next request may come.
    pub(crate) fn idle(&self, now: Instant) {
        if !self.is_unproven() {
            self.enter(Doing::Idle, now);
        }
    }

    /// Changes the activity within the same exchange, with the same start time and byte count.
    pub(crate) fn turn(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Records that the connection was used at `now`.
    pub(crate) fn touch(&self, now: Instant) {
        let micros = now.saturating_duration_since(self.opened).as_micros();
        self.since.store(u64::try_from(micros).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds `count` moved bytes. Only the connection's own task writes, so no addition is lost.
    pub(crate) fn moved(&self, count: usize) {
        self.bytes.store(self.bytes.load(Ordering::Relaxed).saturating_add(count as u64), Ordering::Relaxed);
    }

    fn is_unproven(&self) -> bool {
        self.doing.load(Ordering::Relaxed) == Doing::Unproven as u8
    }

    /// Returns bytes per second, with a credit that makes different activities comparable.
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
    /// Displaced, but not yet terminated.
    is_ending: AtomicBool,
}

/// The place of one connection; dropping it frees the place.
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

    /// Waits for a free place and reserves it for the next connection.
    pub(crate) async fn reserve(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().acquire_owned().await.ok()
    }

    /// Spawns a task that serves a connection and may be displaced. The stop waits for it.
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
        // Boxed once: each async block that awaits a future by value would hold the connection's whole state twice.
        let serving = Box::pin(serve(progress));
        let task = stop.track(async move {
            serving.await;
            drop(place);
        });
        drop(taken.task.set(task.abort_handle()));
    }

    /// Displaces connections until enough places are free. Returns their number; a place is free once its task is
    /// dropped.
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

/// Returns the index of the connection to displace first: the oldest without an admitted request, if there are more
/// than `UNPROVEN` of them; otherwise the one with the lowest worth.
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
