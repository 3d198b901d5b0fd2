//! Start of an app in the network namespace of its sidecar.

use std::time::Duration;

use jiff::Timestamp;

use super::{Engine, EngineError, EngineKind};

impl Engine {
    /// Starts an app in the network namespace that its running sidecar has now. If the app runs, the call does nothing.
    ///
    /// The start of an app must never start its sidecar: the app would run before this sidecar has installed the rules of
    /// its new network namespace. Docker Engine refuses an app whose sidecar has ended. Podman starts the sidecar, too. So
    /// Podman first initialises the app, which gives it a network namespace but runs nothing, and this call compares the
    /// sidecar's run before and after.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: the sidecar has ended. [`EngineError::CommandNotStarted`]: as [`Engine::start`].
    pub async fn start_app(&self, kind: EngineKind, app: &str, sidecar: &str) -> Result<(), EngineError> {
        if kind == EngineKind::Podman {
            self.join_network(app, sidecar).await?;
        }
        self.start(app).await
    }

    async fn join_network(&self, app: &str, sidecar: &str) -> Result<(), EngineError> {
        let before = self.running_since(sidecar).await?;
        self.initialise(app).await?;
        if self.running_since(sidecar).await.is_ok_and(|after| after == before) {
            return Ok(());
        }
        // The next attempt initialises the app again, in the network namespace that the sidecar has then.
        self.stop(app, Duration::ZERO).await?;
        Err(ended(sidecar))
    }

    /// Returns the begin of the present run of a sidecar.
    async fn running_since(&self, sidecar: &str) -> Result<Timestamp, EngineError> {
        let state = self.inspect(sidecar).await?.filter(|state| state.running);
        state.and_then(|state| state.started_at).ok_or_else(|| ended(sidecar))
    }
}

fn ended(sidecar: &str) -> EngineError {
    EngineError::Conflict(format!("the sidecar {sidecar} has ended, so its app does not start"))
}
