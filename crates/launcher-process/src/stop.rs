//! Stopping in order: first ask, then wait, then force.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A stop that everybody who serves or loops holds a copy of.
///
/// Its stages: *requested* means say that you stop and finish what is under way; *drained* means that everybody had the
/// time to hear of it, so take nothing new; *forced* means drop what is left.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: CancellationToken,
    forced: CancellationToken,
    tasks: TaskTracker,
    drain: Duration,
}

impl Stop {
    /// A stop that nobody has requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This stop with a time between *requested* and *drained*: how long whoever sends requests here may take to learn
    /// that they should go elsewhere. None unless said. Copies made before do not know of it.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
    }

    /// A stop that SIGTERM and SIGINT request; a second signal forces it.
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

    /// Asks everybody to stop.
    pub fn request(&self) {
        self.requested.cancel();
    }

    /// Whether the stop has been requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// A token that is cancelled when the stop is requested, for whoever should know nothing else of it. Cancelling it
    /// stops nothing.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.requested.child_token()
    }

    /// Waits until the stop is requested.
    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// Waits until the stop has been requested and its drain time has passed, or until it is forced. Call it before the stop is
    /// requested: the time counts from when this notices the request.
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

    /// Spawns a task that [`Stop::finish`] waits for, and that ends when the stop is forced.
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

    /// Requests the stop, waits for the tracked tasks, and forces those that are not done after `grace`. Returns
    /// whether all were done by themselves.
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
