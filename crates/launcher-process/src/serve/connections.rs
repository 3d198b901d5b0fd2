//! Connection limit of a listener. At the limit, a connection without progress is closed to make room for a new one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::head_tracker::HeadTracker;
use super::limits::{MAX_CLOSING, ServeLimits};

/// Minimum time without progress before a connection may be closed to make room.
const MIN_STALL_TIME: Duration = Duration::from_millis(250);
/// Interval between two searches for a connection to close, while a new connection waits for a slot.
const RETRY: Duration = Duration::from_millis(20);
/// Minimum time between two warnings about the connection limit.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// The open connections of a listener. Clones share the same connections.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: ServeLimits,
    large_heads: Arc<Semaphore>,
    large_answers: Arc<Semaphore>,
    next: AtomicU64,
    open: Mutex<Open>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    connections: HashMap<u64, Connection>,
    /// Number of connections whose task is aborted but still holds its memory.
    closing: usize,
    warned: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    tracker: HeadTracker,
    task: Option<AbortHandle>,
}

/// The slot of one connection. The connection's stream owns it, so that closing the socket also frees the slot.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    id: u64,
    tracker: HeadTracker,
    connections: Connections,
}

impl Connections {
    pub(super) fn new(limits: ServeLimits) -> Self {
        Self(Arc::new(Inner {
            large_heads: Arc::new(Semaphore::new(limits.large_heads)),
            large_answers: Arc::new(Semaphore::new(limits.large_answers)),
            next: AtomicU64::new(0),
            open: Mutex::default(),
            closed: Notify::new(),
            limits,
        }))
    }

    /// Waits for a slot for an accepted connection. If none is free, closes a connection without progress.
    pub(super) async fn admit(&self) -> ConnectionSlot {
        loop {
            if self.make_room() {
                return self.admit_over_limit();
            }
            drop(timeout(RETRY, self.0.closed.notified()).await);
        }
    }

    /// Returns a slot without a check of the connection limit. A closing listener thus serves all connections that
    /// clients have already established.
    pub(super) fn admit_over_limit(&self) -> ConnectionSlot {
        let (id, tracker) = (self.0.next.fetch_add(1, Ordering::Relaxed), HeadTracker::new());
        self.lock().connections.insert(id, Connection { tracker: tracker.clone(), task: None });
        ConnectionSlot { id, tracker, connections: self.clone() }
    }

    /// Records the task that serves a connection. Does nothing if the connection has already ended.
    pub(super) fn set_task(&self, id: u64, task: AbortHandle) {
        if let Some(connection) = self.lock().connections.get_mut(&id) {
            connection.task = Some(task);
        }
    }

    /// Returns true if a slot is free. At the limit, first closes the connection that has made no progress for the
    /// longest time. Connections with a stuck head, body or answer are closed before idle ones.
    fn make_room(&self) -> bool {
        let mut open = self.lock();
        if open.connections.len() < self.0.limits.connections {
            return true;
        }
        let now = Instant::now();
        self.warn(&mut open, now);
        if open.closing >= MAX_CLOSING {
            return false;
        }
        let Some(evicted) = open.longest_stalled(now).and_then(|id| open.connections.remove(&id)) else {
            return false;
        };
        open.closing += 1;
        drop(open);
        if let Some(task) = evicted.task {
            tracing::debug!("closing stalled connection to make room for a new one");
            task.abort();
        }
        true
    }

    fn warn(&self, open: &mut Open, now: Instant) {
        if open.warned.is_none_or(|warned| now.duration_since(warned) >= WARN_INTERVAL) {
            open.warned = Some(now);
            let connections = self.0.limits.connections;
            tracing::warn!(connections, "connection limit reached, closing stalled connections");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Returns the connection to close at the connection limit: the one that has been stuck for the longest time, or
    /// the one that has been idle for the longest time if none is stuck. Ignores connections that have been stuck or
    /// idle for less than [`MIN_STALL_TIME`].
    fn longest_stalled(&self, now: Instant) -> Option<u64> {
        let served = self.connections.iter().filter(|(_, connection)| connection.task.is_some());
        let unproductive = served.filter_map(|(id, connection)| Some((connection.tracker.unproductive()?, *id)));
        let longest = unproductive.filter(|((_, since), _)| now.duration_since(*since) >= MIN_STALL_TIME).min();
        longest.map(|(_, id)| id)
    }
}

impl ConnectionSlot {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the progress tracker of this slot's connection.
    pub(super) fn tracker(&self) -> &HeadTracker {
        &self.tracker
    }

    /// Memory budget for large heads, shared by all connections. One permit is one byte.
    pub(super) fn large_heads(&self) -> Arc<Semaphore> {
        Arc::clone(&self.connections.0.large_heads)
    }

    /// Reserves `bytes` of memory for a larger send buffer. `None` if the shared budget is used up.
    pub(super) fn take_large_answer(&self, bytes: u32) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.connections.0.large_answers).try_acquire_many_owned(bytes).ok()
    }

    pub(super) fn limits(&self) -> &ServeLimits {
        &self.connections.0.limits
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        if open.connections.remove(&self.id).is_none() {
            open.closing = open.closing.saturating_sub(1);
        }
        drop(open);
        self.connections.0.closed.notify_one();
    }
}
