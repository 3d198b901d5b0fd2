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

/// What a connection is waiting for.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    /// Its first head, since then.
    First(Instant),
    /// Another request, since then; no byte has come.
    Idle(Instant),
    /// The rest of a head that began then.
    Rest(Instant),
    /// Nothing: a request is being answered.
    Nothing,
}

/// The heads of one connection. hyper asks its timer to sleep whenever it begins to wait for a head; the connection's
/// reader says when bytes come, and its service when a head is complete.
#[derive(Debug, Clone)]
pub(super) struct Heads(Arc<Mutex<Waiting>>);

impl Heads {
    /// Those of a connection that starts now.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Waiting::First(Instant::now()))))
    }

    /// Bytes have come.
    pub(super) fn read(&self) {
        let mut waiting = self.lock();
        if matches!(*waiting, Waiting::Idle(_)) {
            *waiting = Waiting::Rest(Instant::now());
        }
    }

    /// A head is complete.
    pub(super) fn complete(&self) {
        *self.lock() = Waiting::Nothing;
    }

    /// Whether a head has begun or, on a connection that brought none yet, is to be expected.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(*self.lock(), Waiting::First(_) | Waiting::Rest(_))
    }

    fn wait_for_next(&self) {
        let mut waiting = self.lock();
        if matches!(*waiting, Waiting::Nothing) {
            *waiting = Waiting::Idle(Instant::now());
        }
    }

    fn deadline(&self) -> Instant {
        match *self.lock() {
            Waiting::First(since) | Waiting::Rest(since) => since + HEAD_TIMEOUT,
            Waiting::Idle(since) => since + IDLE_TIMEOUT,
            Waiting::Nothing => Instant::now() + IDLE_TIMEOUT,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
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
