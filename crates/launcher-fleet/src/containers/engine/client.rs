//! The client of the container engine, and the time limits of its calls.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, Docker};

use super::error::EngineError;

/// Time limit of a short call: an inspection, a list, a removal request.
pub(super) const SHORT: Duration = Duration::from_secs(30);
/// Time limit of a call that may wait for the disk: create, start, remove.
pub(super) const LONG: Duration = Duration::from_secs(120);
/// Time limit that bollard gets for the head of each response. [`Engine::limited`] and the streams have limits of their
/// own, so this limit must never pass: the engine may answer a pull or the events only after hours.
const UNLIMITED: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Client of the container engine. Cheap to clone. Each call opens a connection to the engine's socket.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) docker: Docker,
    pub(super) socket: Arc<Path>,
}

impl Engine {
    /// Creates a client of the engine that listens on this Unix socket.
    ///
    /// # Errors
    /// [`EngineError::Unreachable`]: the socket does not exist. [`EngineError::BadParameter`]: the path is not UTF-8.
    pub fn connect(socket: &Path) -> Result<Self, EngineError> {
        let path = socket.to_str().ok_or_else(|| {
            EngineError::BadParameter(format!("the path of the engine's socket {} is not UTF-8", socket.display()))
        })?;
        std::fs::metadata(socket).map_err(|error| EngineError::no_connection(socket, &error))?;
        let docker = Docker::connect_with_unix(path, UNLIMITED.as_secs(), API_DEFAULT_VERSION)
            .map_err(|error| EngineError::of(error, socket))?;
        Ok(Self { docker, socket: socket.into() })
    }

    /// Awaits the response to a call, at most this long.
    pub(super) async fn limited<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, bollard::errors::Error>>,
    ) -> Result<T, EngineError> {
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer.map_err(|error| self.error(error)),
            Err(_) => Err(EngineError::no_answer(&self.socket, limit)),
        }
    }

    pub(super) fn error(&self, error: bollard::errors::Error) -> EngineError {
        EngineError::of(error, &self.socket)
    }
}
