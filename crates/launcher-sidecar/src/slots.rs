//! Connection limit. When all slots are occupied, a new connection displaces the one with the lowest priority, so that
//! clients which hold their connections cannot lock out the owner.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::memory::MAX_CONNECTIONS;

/// Minimum number of free slots. Below it, connections are displaced, so that an accept does not wait for one to end.
const MIN_FREE: usize = 6;
/// Number of free slots after displacement: many connections may arrive at once.
const TARGET_FREE: usize = 16;
/// Number of connections without an admitted request that stay while others are displaced: a head may be in flight.
const MAX_UNAUTHORIZED: usize = 32;
/// Bytes credited at the start, so that a connection is not displaced before it could move any.
const CREDIT_TRANSFER: u64 = 64 * 1024;
const CREDIT_IDLE: u64 = 1024 * 1024;
const CREDIT_OTHER: u64 = 64 * 1024 * 1024;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ConnectionState {
    /// No request has been admitted yet.
    Unauthorized,
    /// Waits for the next request.
    Idle,
    /// Waits for the app, or for neither side.
    Serving,
    /// Waits for the client to send or take bytes, or, in a stalled WebSocket, for either side.
    Transfer,
}

/// State of a connection and its start time. Displacement compares connections by it.
#[derive(Debug)]
pub(crate) struct Progress {
    opened: Instant,
    state: AtomicU8,
    /// Microseconds after `opened`.
    since: AtomicU64,
    bytes: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            opened: Instant::now(),
            state: AtomicU8::new(ConnectionState::Unauthorized as u8),
            since: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Enters a state at `now`, with a byte count of zero.
    pub(crate) fn enter(&self, state: ConnectionState, now: Instant) {
        self.state.store(state as u8, Ordering::Relaxed);
        self.touch(now);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Records that a response is complete, and that the next request may come.
    pub(crate) fn idle(&self, now: Instant) {
        if !self.is_unauthorized() {
            self.enter(ConnectionState::Idle, now);
        }
    }

    /// Changes the state within the same exchange, with the same start time and byte count.
    pub(crate) fn set_state(&self, state: ConnectionState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Records that the connection was used at `now`.
    pub(crate) fn touch(&self, now: Instant) {
        let micros = now.saturating_duration_since(self.opened).as_micros();
        self.since.store(u64::try_from(micros).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds `count` moved bytes. Only the connection's own task writes, so no addition is lost.
    pub(crate) fn add_bytes(&self, count: usize) {
        self.bytes.store(self.bytes.load(Ordering::Relaxed).saturating_add(count as u64), Ordering::Relaxed);
    }

    fn is_unauthorized(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ConnectionState::Unauthorized as u8
    }

    /// Returns bytes per second, with a credit that makes different states comparable.
    fn priority(&self, now: Instant) -> f64 {
        let state = self.state.load(Ordering::Relaxed);
        let credit = if state == ConnectionState::Transfer as u8 {
            CREDIT_TRANSFER.saturating_add(self.bytes.load(Ordering::Relaxed))
        } else if state == ConnectionState::Idle as u8 {
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

/// Connection slots of a listener.
#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    free: Arc<Semaphore>,
    occupied: Mutex<Vec<Arc<Slot>>>,
}

/// An occupied slot.
#[derive(Debug)]
struct Slot {
    progress: Arc<Progress>,
    task: OnceLock<AbortHandle>,
    /// Displaced, but not yet terminated.
    is_displaced: AtomicBool,
}

/// Guard of one connection's slot; dropping it frees the slot.
#[derive(Debug)]
struct SlotGuard {
    slots: Arc<ConnectionSlots>,
    slot: Arc<Slot>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { free: Arc::new(Semaphore::new(MAX_CONNECTIONS)), occupied: Mutex::default() })
    }

    /// Waits for a free slot and reserves it for the next connection.
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
        let slot =
            Arc::new(Slot { progress: progress.clone(), task: OnceLock::new(), is_displaced: AtomicBool::new(false) });
        self.lock().push(slot.clone());
        let guard = SlotGuard { slots: self.clone(), slot: slot.clone(), _permit: permit };
        // Boxed once: each async block that awaits a future by value would hold the connection's whole state twice.
        let serving = Box::pin(serve(progress));
        let task = stop.track(async move {
            serving.await;
            drop(guard);
        });
        drop(slot.task.set(task.abort_handle()));
    }

    /// Displaces connections until enough slots are free. Returns their number; a slot is free once its task is
    /// dropped.
    pub(crate) fn displace_connections(&self, now: Instant) -> usize {
        let free = self.free.available_permits();
        if free >= MIN_FREE {
            return 0;
        }
        let occupied = self.lock();
        let (displaced, mut staying): (Vec<_>, Vec<_>) = occupied.iter().partition(|slot| slot.is_displaced());
        let mut count = 0;
        if free + displaced.len() >= MIN_FREE {
            return 0;
        }
        for _ in free + displaced.len()..TARGET_FREE {
            let Some(index) = select_displaced(&staying, now) else { break };
            staying.swap_remove(index).displace();
            count += 1;
        }
        count
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.occupied.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn is_displaced(&self) -> bool {
        self.is_displaced.load(Ordering::Relaxed)
    }

    fn displace(&self) {
        self.is_displaced.store(true, Ordering::Relaxed);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        let mut occupied = self.slots.lock();
        if let Some(index) = occupied.iter().position(|slot| Arc::ptr_eq(slot, &self.slot)) {
            occupied.swap_remove(index);
        }
    }
}

/// Returns the index of the connection to displace first: the oldest without an admitted request, if there are more
/// than `MAX_UNAUTHORIZED` of them; otherwise the one with the lowest priority.
fn select_displaced(staying: &[&Arc<Slot>], now: Instant) -> Option<usize> {
    let unauthorized = || staying.iter().enumerate().filter(|(_, slot)| slot.progress.is_unauthorized());
    let oldest = || unauthorized().min_by_key(|(_, slot)| slot.progress.opened).map(|(index, _)| index);
    if unauthorized().count() > MAX_UNAUTHORIZED {
        return oldest();
    }
    let authorized = staying.iter().enumerate().filter(|(_, slot)| !slot.progress.is_unauthorized());
    let priorities = authorized.map(|(index, slot)| (index, slot.progress.priority(now)));
    priorities.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index).or_else(oldest)
}
