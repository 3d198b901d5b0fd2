//! Timeouts for the next request of a connection. The idle timeout is long, so that a reverse proxy can reuse the
//! connection. Once a request's head has begun, a shorter timeout applies: otherwise a client could occupy the
//! connection by sending a few bytes.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

/// Maximum time for a head to arrive, measured from its first byte. For the first head of a connection, the time is
/// measured from the connection's start.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Idle timeout between requests. Reverse proxies in front have shorter idle timeouts (60 to 90 s), so they close
/// first. Otherwise a proxy could send a request on a connection that this server is closing.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum size of a head, in bytes, after which the connection stays open. After a larger head, the connection is
/// closed with its answer: hyper never shrinks its read buffer, so the connection would keep that memory.
const LARGE_HEAD: usize = 24 * 1024;

/// The phase of a connection. Each `Instant` is the time when the phase began.
#[derive(Debug, Clone, Copy)]
enum RequestPhase {
    /// Waits for the connection's first head.
    FirstHead(Instant),
    /// Idle: no byte of the next request has arrived.
    Idle(Instant),
    /// Waits for the rest of a head.
    Head(Instant),
    /// Waits for the rest of a body, or for the answer to a request that has a body.
    Body(Instant),
    /// Waits for the rest of a body although its request is already answered.
    UnreadBody(Instant),
    /// A request without a body is being answered.
    Answering,
}

/// Time for a body to arrive before its connection counts as stuck.
const BODY_TIMEOUT: Duration = Duration::from_secs(3);

/// Tracks the progress of one connection. The connection's stream reports received bytes and blocked writes. The
/// request handler reports complete heads and answers. The tracker is also hyper's timer, which hyper starts whenever
/// it begins to wait for a head.
#[derive(Debug, Clone)]
pub(super) struct HeadTracker(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    phase: RequestPhase,
    /// Number of bytes received of the current head. Between two heads: size of the last head.
    head_bytes: usize,
    /// Time when the kernel's send buffer became full. `None` once the whole answer is written.
    write_blocked_since: Option<Instant>,
    /// True if the connection carries a workshop's traffic: slow bodies and slow readers are normal there.
    is_relaxed: bool,
}

/// Reason why a connection makes no progress. At the connection limit, stuck connections are closed before idle ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unproductive {
    /// The client does not complete its request, or does not read its answer.
    Stuck,
    /// The client has not begun its next request.
    Idle,
}

impl HeadTracker {
    /// Creates the tracker of a new connection.
    pub(super) fn new() -> Self {
        let phase = RequestPhase::FirstHead(Instant::now());
        Self(Arc::new(Mutex::new(State { phase, head_bytes: 0, write_blocked_since: None, is_relaxed: false })))
    }

    /// Records `bytes` received bytes.
    pub(super) fn read(&self, bytes: usize) {
        let mut state = self.lock();
        match state.phase {
            RequestPhase::Idle(_) => {
                state.phase = RequestPhase::Head(Instant::now());
                state.head_bytes = bytes;
            }
            RequestPhase::FirstHead(_) | RequestPhase::Head(_) => state.head_bytes += bytes,
            RequestPhase::Body(_) | RequestPhase::UnreadBody(_) | RequestPhase::Answering => {}
        }
    }

    /// Records that a head is complete. `has_body` is true if a body follows.
    pub(super) fn complete(&self, has_body: bool) {
        self.lock().phase = if has_body { RequestPhase::Body(Instant::now()) } else { RequestPhase::Answering };
    }

    /// Records that the request is answered.
    pub(super) fn answer(&self) {
        let mut state = self.lock();
        if matches!(state.phase, RequestPhase::Body(_)) {
            state.phase = RequestPhase::UnreadBody(Instant::now());
        }
    }

    /// Removes the limits on slow reading and writing, because the connection carries a workshop's traffic.
    pub(super) fn relax(&self) {
        self.lock().is_relaxed = true;
    }

    pub(super) fn is_relaxed(&self) -> bool {
        self.lock().is_relaxed
    }

    /// Returns the bytes received of the current head; 0 if no head is being received.
    pub(super) fn head_bytes(&self) -> usize {
        let state = self.lock();
        if matches!(state.phase, RequestPhase::FirstHead(_) | RequestPhase::Head(_)) { state.head_bytes } else { 0 }
    }

    /// True if the last head was so large that the connection must be closed after its answer.
    pub(super) fn was_large(&self) -> bool {
        self.lock().head_bytes > LARGE_HEAD
    }

    /// Records that the kernel's send buffer is full, or that the whole answer is written.
    pub(super) fn set_write_blocked(&self, is_blocked: bool) {
        self.lock().write_blocked_since = is_blocked.then(Instant::now);
    }

    /// Returns why the connection makes no progress, and since when. `None` while it makes progress.
    pub(super) fn unproductive(&self) -> Option<(Unproductive, Instant)> {
        let state = self.lock();
        match (state.phase, state.write_blocked_since.filter(|_| !state.is_relaxed)) {
            (RequestPhase::FirstHead(since) | RequestPhase::Head(since), _) | (_, Some(since)) => {
                Some((Unproductive::Stuck, since))
            }
            (RequestPhase::Idle(since), None) => Some((Unproductive::Idle, since)),
            (RequestPhase::UnreadBody(since), None) if !state.is_relaxed => Some((Unproductive::Stuck, since)),
            (RequestPhase::Body(since), None) if !state.is_relaxed => Some((Unproductive::Stuck, since + BODY_TIMEOUT)),
            (RequestPhase::Body(_) | RequestPhase::UnreadBody(_) | RequestPhase::Answering, None) => None,
        }
    }

    /// True if a head is incomplete, or if the connection's first head is still pending.
    pub(super) fn is_receiving_head(&self) -> bool {
        matches!(self.lock().phase, RequestPhase::FirstHead(_) | RequestPhase::Head(_))
    }

    fn mark_idle(&self) {
        let mut state = self.lock();
        if matches!(state.phase, RequestPhase::UnreadBody(_) | RequestPhase::Answering) {
            state.phase = RequestPhase::Idle(Instant::now());
        }
    }

    fn deadline(&self) -> Instant {
        match self.lock().phase {
            RequestPhase::FirstHead(since) | RequestPhase::Head(since) => since + HEAD_TIMEOUT,
            RequestPhase::Idle(since) => since + IDLE_TIMEOUT,
            RequestPhase::Body(_) | RequestPhase::UnreadBody(_) | RequestPhase::Answering => {
                Instant::now() + IDLE_TIMEOUT
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The timer that hyper uses for one connection. It ignores the duration that hyper passes, and sleeps until the
/// timeout of the current phase. With a single duration, which is all that hyper offers, one of these tests fails:
/// `idle_connection_is_closed_after_120_seconds`, `reused_connection_with_slow_head_is_closed_after_30_seconds`.
impl Timer for HeadTracker {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Sleep>> {
        self.mark_idle();
        Box::pin(HeadDeadline { tracker: self.clone(), sleep: Box::pin(tokio::time::sleep_until(self.deadline())) })
    }

    fn sleep_until(&self, _: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(Duration::ZERO)
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

/// Future that completes when a head is overdue. hyper polls it after each read that leaves the head incomplete. Each
/// poll updates the deadline: once a head has begun, the head timeout replaces the idle timeout.
struct HeadDeadline {
    tracker: HeadTracker,
    sleep: Pin<Box<tokio::time::Sleep>>,
}

impl Future for HeadDeadline {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.tracker.deadline();
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx)
    }
}

impl Sleep for HeadDeadline {}
