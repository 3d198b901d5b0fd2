//! How long to wait for the next request of a connection: long while it idles, so that a proxy in front may keep it for
//! reuse, and short once a head has begun, so that nobody holds it with a byte now and then.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

/// How long a head may take from its first byte, and the first one of a connection from the connection's start.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may idle between requests: longer than the proxies in front keep theirs (60 to 90 s), so that
/// it is they who close, and no request meets a connection that is just being closed.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Size of a head whose connection is closed after its answer, in bytes: its read buffer would keep its size.
const LARGE_HEAD: usize = 24 * 1024;

/// What a connection is waiting for.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    /// Its first head, since then.
    First(Instant),
    /// Another request, since then; no byte has come.
    Idle(Instant),
    /// The rest of a head that began then.
    Rest(Instant),
    /// A body, or the answer to a request with one, since then.
    Body(Instant),
    /// The rest of a body whose request was answered then, before all of it had come.
    Leftover(Instant),
    /// Nothing: a request is being answered.
    Nothing,
}

/// Additional time that a body has before its connection counts as one without progress.
const BODY_TIMEOUT: Duration = Duration::from_secs(3);

/// The heads of one connection. hyper asks its timer to sleep whenever it begins to wait for a head; the connection's
/// stream says when bytes come and when its writes stall, and its service when a head is complete.
#[derive(Debug, Clone)]
pub(super) struct Heads(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    waiting: Waiting,
    /// Bytes of the head that is being read, or of the last one.
    head_bytes: usize,
    /// When an answer did not fit into the kernel's buffer; `None` once everything has been written.
    behind: Option<Instant>,
    /// It carries a workshop's traffic: slow bodies and slow readers are usual.
    is_relaxed: bool,
}

/// Why a connection makes no progress, from the first to be closed to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unproductive {
    /// A head or a body does not come, or an answer is not read.
    Stuck,
    /// No request has begun.
    Idle,
}

impl Heads {
    /// Those of a connection that starts now.
    pub(super) fn new() -> Self {
        let waiting = Waiting::First(Instant::now());
        Self(Arc::new(Mutex::new(State { waiting, head_bytes: 0, behind: None, is_relaxed: false })))
    }

    /// So many bytes have come.
    pub(super) fn read(&self, bytes: usize) {
        let mut state = self.lock();
        match state.waiting {
            Waiting::Idle(_) => {
                state.waiting = Waiting::Rest(Instant::now());
                state.head_bytes = bytes;
            }
            Waiting::First(_) | Waiting::Rest(_) => state.head_bytes += bytes,
            Waiting::Body(_) | Waiting::Leftover(_) | Waiting::Nothing => {}
        }
    }

    /// A head is complete; whether a body follows.
    pub(super) fn complete(&self, has_body: bool) {
        self.lock().waiting = if has_body { Waiting::Body(Instant::now()) } else { Waiting::Nothing };
    }

    /// The answer has been made.
    pub(super) fn answer(&self) {
        let mut state = self.lock();
        if matches!(state.waiting, Waiting::Body(_)) {
            state.waiting = Waiting::Leftover(Instant::now());
        }
    }

    /// From now on it carries a workshop's traffic.
    pub(super) fn relax(&self) {
        self.lock().is_relaxed = true;
    }

    pub(super) fn is_relaxed(&self) -> bool {
        self.lock().is_relaxed
    }

    /// Bytes of the head that is being read; 0 while none is.
    pub(super) fn head_bytes(&self) -> usize {
        let state = self.lock();
        if matches!(state.waiting, Waiting::First(_) | Waiting::Rest(_)) { state.head_bytes } else { 0 }
    }

    /// True when the last head took so much memory that its connection is not kept.
    pub(super) fn was_large(&self) -> bool {
        self.lock().head_bytes > LARGE_HEAD
    }

    /// Notes that an answer does not fit into the kernel's buffer, or that everything has been written.
    pub(super) fn set_behind(&self, behind: bool) {
        self.lock().behind = behind.then(Instant::now);
    }

    /// Why the connection makes no progress, and since when; `None` while a request is being answered.
    pub(super) fn unproductive(&self) -> Option<(Unproductive, Instant)> {
        let state = self.lock();
        match (state.waiting, state.behind.filter(|_| !state.is_relaxed)) {
            (Waiting::First(since) | Waiting::Rest(since), _) | (_, Some(since)) => Some((Unproductive::Stuck, since)),
            (Waiting::Idle(since), None) => Some((Unproductive::Idle, since)),
            (Waiting::Leftover(since), None) if !state.is_relaxed => Some((Unproductive::Stuck, since)),
            (Waiting::Body(since), None) if !state.is_relaxed => Some((Unproductive::Stuck, since + BODY_TIMEOUT)),
            (Waiting::Body(_) | Waiting::Leftover(_) | Waiting::Nothing, None) => None,
        }
    }

    /// Whether a head has begun or, on a connection that brought none yet, is to be expected.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.lock().waiting, Waiting::First(_) | Waiting::Rest(_))
    }

    fn wait_for_next(&self) {
        let mut state = self.lock();
        if matches!(state.waiting, Waiting::Leftover(_) | Waiting::Nothing) {
            state.waiting = Waiting::Idle(Instant::now());
        }
    }

    fn deadline(&self) -> Instant {
        match self.lock().waiting {
            Waiting::First(since) | Waiting::Rest(since) => since + HEAD_TIMEOUT,
            Waiting::Idle(since) => since + IDLE_TIMEOUT,
            Waiting::Body(_) | Waiting::Leftover(_) | Waiting::Nothing => Instant::now() + IDLE_TIMEOUT,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The timer of one connection: whatever hyper asks for, it sleeps until the next head is overdue.
impl Timer for Heads {
    fn sleep(&self, _: Duration) -> Pin<Box<dyn Sleep>> {
        self.wait_for_next();
        Box::pin(Overdue { heads: self.clone(), sleep: Box::pin(tokio::time::sleep_until(self.deadline())) })
    }

    fn sleep_until(&self, _: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        self.sleep(Duration::ZERO)
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

/// Ends when a head is overdue. hyper polls it after each read that did not complete one.
struct Overdue {
    heads: Heads,
    sleep: Pin<Box<tokio::time::Sleep>>,
}

impl Future for Overdue {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.heads.deadline();
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx)
    }
}

impl Sleep for Overdue {}
