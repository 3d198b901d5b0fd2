//! The open connections of a listener: their limit, and the choice of the connection to close at the limit.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::head_tracker::HeadTracker;
use super::limits::ServeLimits;

/// Minimum time without progress before a connection is closed for another one.
const MIN_STALL_TIME: Duration = Duration::from_millis(250);
/// Interval between two looks for a connection to close while another one waits.
const RETRY: Duration = Duration::from_millis(20);
/// Minimum time between two warnings that the limit is reached.
const WARN_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum number of connections that were asked to close and still hold their memory.
pub(super) const MAX_CLOSING: usize = 32;

/// The open connections of a listener. Clones share them.
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
    /// Number of connections that were asked to close.
    closing: usize,
    warned: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    tracker: HeadTracker,
    task: Option<AbortHandle>,
}

/// The slot of one connection. Dropping it, together with its socket, frees the slot.
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

    /// Waits for a slot for an accepted connection, and frees one from a connection without progress.
    pub(super) async fn admit(&self) -> ConnectionSlot {
        loop {
            if self.make_room() {
                return self.admit_over_limit();
            }
            drop(timeout(RETRY, self.0.closed.notified()).await);
        }
    }

    /// Returns a slot even above the limit: for the last connections before the listener closes.
    pub(super) fn admit_over_limit(&self) -> ConnectionSlot {
        let (id, tracker) = (self.0.next.fetch_add(1, Ordering::Relaxed), HeadTracker::new());
        self.lock().connections.insert(id, Connection { tracker: tracker.clone(), task: None });
        ConnectionSlot { id, tracker, connections: self.clone() }
    }

    /// Records the task that serves a slot's connection, unless it has already ended.
    pub(super) fn set_task(&self, id: u64, task: AbortHandle) {
        if let Some(connection) = self.lock().connections.get_mut(&id) {
            connection.task = Some(task);
        }
    }

    /// True if a slot is free. Otherwise closes the connection that has made no progress for longest. One with a stuck
    /// head, body or answer is closed before an idle one.
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
            tracing::debug!("closing stalled connection at the connection limit");
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
    /// The connection without progress for longest, if any exceeds [`MIN_STALL_TIME`].
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

    /// The head state of its connection.
    pub(super) fn tracker(&self) -> &HeadTracker {
        &self.tracker
    }

    /// Memory for large heads, in bytes, shared by all connections.
    pub(super) fn large_heads(&self) -> Arc<Semaphore> {
        Arc::clone(&self.connections.0.large_heads)
    }

    /// Takes memory for a larger send buffer, in bytes, if available.
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
