//! Graceful stop: request, drain, force.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The stop of a process; every server and loop holds a clone.
///
/// Stages: at *requested*, announce the stop and finish in-flight work. At *drained*, all clients had time to notice,
/// so accept no new work. At *forced*, drop the remaining work.
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

    /// Sets the time between *requested* and *drained*: clients and proxies need it to learn that they must send their
    /// requests elsewhere. The default is zero. Clones that were made earlier are not affected.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
    }

    /// Creates a stop that SIGTERM and SIGINT request; a second signal forces it.
    ///
    /// # Errors
    /// The signal handlers cannot be installed. Call it within a tokio runtime.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let signalled = stop.clone();
        tokio::spawn(async move {
            for stage in [&signalled.requested, &signalled.forced] {
                tokio::select! {
                    _ = terminate.recv() => tracing::info!(signal = "SIGTERM", "stopping"),
                    _ = interrupt.recv() => tracing::info!(signal = "SIGINT", "stopping"),
                }
                stage.cancel();
            }
        });
        Ok(stop)
    }

    /// Requests the stop.
    pub fn request(&self) {
        self.requested.cancel();
    }

    /// True once the stop is requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// Returns a token that is cancelled when the stop is requested, for code that needs no other stage. Cancelling it
    /// does not stop anything.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.requested.child_token()
    }

    /// Waits until the stop is requested.
    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// Waits until the stop was requested and its drain time has passed, or until it is forced. Call it before the
    /// request: the drain time starts when this call notices the request.
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

    /// Spawns a task that [`Stop::finish`] waits for, and that is dropped when the stop is forced.
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

    /// Requests the stop, waits for the tracked tasks, and forces the rest after `grace`. Returns true if all tasks
    /// ended in time.
    pub async fn finish(&self, grace: Duration) -> bool {
        self.requested.cancel();
        self.tasks.close();
        let in_time = tokio::select! {
            () = self.tasks.wait() => true,
            () = tokio::time::sleep(grace) => false,
            () = self.forced.cancelled() => false,
        };
        self.forced.cancel();
        self.tasks.wait().await;
        in_time
    }
}
