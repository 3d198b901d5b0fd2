//! Progress of one connection. When few connection slots are free, a new connection displaces the connection that has
//! made the least progress.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Credit of a connection in each state, in bytes. A credit counts like moved bytes, so that a new transfer is not
/// displaced before it can move a byte. Idle connections get more credit than transfers, and connections that wait for
/// the app get the most.
const CREDIT_TRANSFER: u64 = 64 * 1024;
const CREDIT_IDLE: u64 = 1024 * 1024;
const CREDIT_OTHER: u64 = 64 * 1024 * 1024;

/// State of a connection, which determines its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ConnectionState {
    /// No request of this connection has been admitted yet.
    Unauthorized,
    /// Waits for the client's next request.
    Idle,
    /// Waits for the app's response, or relays a WebSocket that is not stalled.
    Serving,
    /// Waits for the client to send or receive bytes. A stalled WebSocket has this state too, whichever side stalls it.
    Transfer,
}

/// State of a connection, with the start time and the bytes moved in that state. Displacement compares connections by
/// these values.
#[derive(Debug)]
pub(crate) struct Progress {
    opened: Instant,
    state: AtomicU8,
    /// Time when the state began or the connection was last used, in microseconds after `opened`.
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

    /// Enters a state at time `now`, and resets the byte count to zero.
    pub(crate) fn enter(&self, state: ConnectionState, now: Instant) {
        self.state.store(state as u8, Ordering::Relaxed);
        self.touch(now);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Records that a response is complete, and that the connection waits for the next request.
    pub(crate) fn idle(&self, now: Instant) {
        if !self.is_unauthorized() {
            self.enter(ConnectionState::Idle, now);
        }
    }

    /// Changes the state within an exchange. Start time and byte count stay unchanged.
    pub(crate) fn set_state(&self, state: ConnectionState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Records that the connection was used at time `now`.
    pub(crate) fn touch(&self, now: Instant) {
        let micros = now.saturating_duration_since(self.opened).as_micros();
        self.since.store(u64::try_from(micros).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds `count` moved bytes. Only the connection's task writes the counter, so load and store lose no addition.
    pub(crate) fn add_bytes(&self, count: usize) {
        self.bytes.store(self.bytes.load(Ordering::Relaxed).saturating_add(count as u64), Ordering::Relaxed);
    }

    /// Returns true while no request has been admitted.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ConnectionState::Unauthorized as u8
    }

    /// Returns the time when the connection was accepted.
    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    /// Returns the connection's priority in bytes per second: the credit of its state, and the bytes moved in a
    /// transfer, divided by the time since `since`. The connection with the lowest priority is displaced first.
    pub(crate) fn priority(&self, now: Instant) -> f64 {
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
