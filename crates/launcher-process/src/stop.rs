//! Graceful stop of a process.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The stop of a process. Every server and loop holds a clone. The stop has three stages:
///
/// 1. *requested*: servers announce the stop to their clients, and still accept work.
/// 2. *drained*: clients had time to notice the stop. Servers accept no new work, and complete in-flight work.
/// 3. *forced*: the remaining work is dropped.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: CancellationToken,
    forced: CancellationToken,
    tasks: TaskTracker,
    drain: Duration,
}

impl Stop {
    /// Creates a stop that is not requested yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time between *requested* and *drained*. In this time, clients and proxies learn that they must send
    /// their requests to another process. The default is zero. Existing clones keep their drain time.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
    }

    /// Creates a stop that SIGTERM or SIGINT requests. A second signal forces the stop. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// Fails if the signal handlers cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let signalled = stop.clone();
        tokio::spawn(async move {
            for stage in [&signalled.requested, &signalled.forced] {
                tokio::select! {
                    _ = terminate.recv() => tracing::info!(signal = "SIGTERM", "received stop signal"),
                    _ = interrupt.recv() => tracing::info!(signal = "SIGINT", "received stop signal"),
                }
                stage.cancel();
            }
        });
        Ok(stop)
    }

    /// Requests the stop. Repeated calls have no effect.
    pub fn request(&self) {
        self.requested.cancel();
    }

    /// True once the stop is requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// Returns a token that is cancelled when the stop is requested, for code that does not need the later stages.
    /// Cancelling the token does not request the stop.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.requested.child_token()
    }

    /// Waits until the stop is requested.
    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// Waits until the stop is requested and its drain time has passed, or until the stop is forced. Begin to wait
    /// before the stop is requested: the drain time starts when this wait notices the request.
    pub async fn drained(&self) {
        self.requested().await;
        tokio::select! {
            () = tokio::time::sleep(self.drain) => {}
            () = self.forced() => {}
        }
    }

    /// Waits until the stop is forced.
    pub async fn forced(&self) {
        self.forced.cancelled().await;
    }

    /// Spawns a task. [`Stop::finish`] waits for the task. A forced stop drops the task.
    pub fn track<F>(&self, task: F) -> JoinHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let forced = self.forced.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = task => {}
                () = forced.cancelled() => {}
            }
        })
    }

    /// Requests the stop and waits for the tracked tasks. After `grace`, forces the stop. Returns true if all tasks
    /// ended before the stop was forced.
    pub async fn finish(&self, grace: Duration) -> bool {
        self.requested.cancel();
        self.tasks.close();
        // A forced stop ends all tasks. Check it first: otherwise the ended tasks could count as in time. Check the grace
        // period last, because tasks that have ended by then are in time.
        let in_time = tokio::select! {
            biased;
            () = self.forced.cancelled() => false,
            () = self.tasks.wait() => true,
            () = tokio::time::sleep(grace) => false,
        };
        self.forced.cancel();
        self.tasks.wait().await;
        in_time
    }
}
