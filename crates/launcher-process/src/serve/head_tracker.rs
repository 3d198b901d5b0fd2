//! Timeouts for the next request of a connection. The idle timeout is long, so that a reverse proxy can reuse the
//! connection. The timeout of a started head is short, so that a client cannot hold the connection with a few bytes.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

/// Timeout of a head from its first byte; for the first head of a connection from the connection's start.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Idle timeout between requests. It is longer than the idle timeout of the reverse proxies in front (60 to 90 s), so
/// that the proxies close first and no request meets a closing connection.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Size in bytes above which a head's connection is closed after its answer, because its read buffer would keep its
/// size.
const LARGE_HEAD: usize = 24 * 1024;

/// The state of a connection.
#[derive(Debug, Clone, Copy)]
enum RequestPhase {
    /// Waits for its first head since then.
    FirstHead(Instant),
    /// Idle since then; no byte of another request has arrived.
    Idle(Instant),
    /// Waits for the rest of a head that began then.
    Head(Instant),
    /// Waits for a body, or for the answer to a request with one, since then.
    Body(Instant),
    /// Waits for the rest of a body whose request was answered early, at that time.
    UnreadBody(Instant),
    /// A request is being answered.
    Answering,
}

/// Additional time for a body before its connection counts as one without progress.
const BODY_TIMEOUT: Duration = Duration::from_secs(3);

/// Tracks the heads of one connection. hyper starts its timer whenever it begins to wait for a head. The connection's
/// stream reports received bytes and stalled writes, and its service reports complete heads.
#[derive(Debug, Clone)]
pub(super) struct HeadTracker(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    phase: RequestPhase,
    /// Bytes of the head that is being read, or of the last one.
    head_bytes: usize,
    /// When an answer did not fit into the kernel's buffer; `None` once everything was written.
    write_blocked_since: Option<Instant>,
    /// True for a workshop's traffic: slow bodies and slow readers are normal.
    is_relaxed: bool,
}

/// Why a connection makes no progress, in the order of closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unproductive {
    /// A head or a body does not arrive, or an answer is not read.
    Stuck,
    /// No request has begun.
    Idle,
}

impl HeadTracker {
    /// The state of a new connection.
    pub(super) fn new() -> Self {
        let phase = RequestPhase::FirstHead(Instant::now());
        Self(Arc::new(Mutex::new(State { phase, head_bytes: 0, write_blocked_since: None, is_relaxed: false })))
    }

    /// Counts received bytes.
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

    /// Marks a head as complete; `has_body` if a body follows.
    pub(super) fn complete(&self, has_body: bool) {
        self.lock().phase = if has_body { RequestPhase::Body(Instant::now()) } else { RequestPhase::Answering };
    }

    /// Marks the request as answered.
    pub(super) fn answer(&self) {
        let mut state = self.lock();
        if matches!(state.phase, RequestPhase::Body(_)) {
            state.phase = RequestPhase::UnreadBody(Instant::now());
        }
    }

    /// Marks the connection as carrying a workshop's traffic.
    pub(super) fn relax(&self) {
        self.lock().is_relaxed = true;
    }

    pub(super) fn is_relaxed(&self) -> bool {
        self.lock().is_relaxed
    }

    /// Bytes of the head that is being read; otherwise 0.
    pub(super) fn head_bytes(&self) -> usize {
        let state = self.lock();
        if matches!(state.phase, RequestPhase::FirstHead(_) | RequestPhase::Head(_)) { state.head_bytes } else { 0 }
    }

    /// True if the last head took so much memory that its connection is closed.
    pub(super) fn was_large(&self) -> bool {
        self.lock().head_bytes > LARGE_HEAD
    }

    /// Records that an answer does not fit into the kernel's buffer, or that everything was written.
    pub(super) fn set_write_blocked(&self, is_blocked: bool) {
        self.lock().write_blocked_since = is_blocked.then(Instant::now);
    }

    /// Why and since when the connection makes no progress; `None` while a request is being answered.
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

    /// True if a head has begun, or if the connection has not sent its first head yet.
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

/// The timer of one connection. It ignores hyper's duration and sleeps until the next head is overdue.
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

/// Completes when a head is overdue. hyper polls it after each read that did not complete a head.
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
