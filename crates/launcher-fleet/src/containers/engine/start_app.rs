//! Start of an app in the network namespace of its sidecar.

use std::time::Duration;

use super::{Engine, EngineError, EngineKind};

impl Engine {
    /// Starts an app in the network namespace of its running sidecar. If the app runs, the call does nothing. Before the
    /// start, the app's user gets the directories `volumes`, at which volumes are mounted: see [`Engine::give_to_user`].
    ///
    /// An app must never run in a network namespace before its sidecar has installed the rules there. Docker Engine refuses
    /// an app whose sidecar has ended, but Podman starts this sidecar again, and the app with it. So Podman first
    /// initialises the app: the app gets the network namespace of the sidecar's present run, and keeps it if the sidecar
    /// ends before the start.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: the sidecar has ended. [`EngineError::CommandNotStarted`]: as [`Engine::start`].
    pub async fn start_app(
        &self,
        kind: EngineKind,
        app: &str,
        sidecar: &str,
        volumes: &[&str],
    ) -> Result<(), EngineError> {
        if kind == EngineKind::Podman {
            self.initialise(app).await?;
        }
        let ready = self.prepare(kind, app, sidecar, volumes).await;
        if ready.is_err() && kind == EngineKind::Podman {
            // The next attempt initialises the app in the network namespace that the sidecar has then.
            self.stop(app, Duration::ZERO).await?;
        }
        ready?;
        self.start(app).await
    }

    /// Mounts the volume of an app that has not started yet, and gives its directory to the app's user. The engine copies
    /// the image's files at this path into an empty volume. Call it before another container writes into the volume.
    pub async fn mount_volume(&self, kind: EngineKind, app: &str, path: &str) -> Result<(), EngineError> {
        if kind != EngineKind::Podman {
            return self.give_to_user(kind, app, path).await;
        }
        self.initialise(app).await?;
        let given = self.give_to_user(kind, app, path).await;
        // The sidecar may end before the app starts. The app then needs the network namespace of the next sidecar.
        self.stop(app, Duration::ZERO).await?;
        given
    }

    async fn prepare(&self, kind: EngineKind, app: &str, sidecar: &str, volumes: &[&str]) -> Result<(), EngineError> {
        for path in volumes {
            self.give_to_user(kind, app, path).await?;
        }
        // Podman's answer is the same for an initialised app and for an app whose sidecar does not run.
        if kind == EngineKind::Podman && !self.inspect(sidecar).await?.is_some_and(|sidecar| sidecar.running) {
            return Err(EngineError::Conflict(format!("the sidecar {sidecar} has ended, so its app does not start")));
        }
        Ok(())
    }
}
