//! The client of the container engine: its calls, through bollard or without it, and their time limits.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bollard::{API_DEFAULT_VERSION, Docker};
use bytes::Bytes;
use futures_util::TryFutureExt;
use http::header::HOST;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::EngineError;

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
        self.within(limit, call.map_err(|error| self.error(error))).await
    }

    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        timeout(limit, call).await.unwrap_or_else(|_| {
            let problem = format!("no answer within {} seconds", limit.as_secs());
            Err(EngineError::unreachable(&self.socket, problem))
        })
    }

    pub(super) fn error(&self, error: bollard::errors::Error) -> EngineError {
        EngineError::of(error, &self.socket)
    }
}

/// Maximum size of an answer. A list has about 2 KiB for each container.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

impl Engine {
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, EngineError> {
        let answer = self.within(SHORT, self.request(Method::GET, path)).await?;
        serde_json::from_slice(&answer)
            .map_err(|error| EngineError::Other(format!("its answer to {path} cannot be read: {error}")))
    }

    /// Sends a request without a body, and ignores the answer of a success. The status 304 is a success, too: the resource
    /// is already in the wanted state.
    pub(super) async fn post(&self, path: &str) -> Result<(), EngineError> {
        self.within(LONG, self.request(Method::POST, path)).await.map(drop)
    }

    async fn request(&self, method: Method, path: &str) -> Result<Bytes, EngineError> {
        let broken = |error: &dyn std::error::Error| EngineError::unreachable(&self.socket, error.to_string());
        let stream = UnixStream::connect(&self.socket).await;
        let stream = stream.map_err(|error| EngineError::no_connection(&self.socket, &error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
        let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
        let request = Request::builder().method(method).uri(path).header(HOST, "engine").body(Empty::<Bytes>::new());
        let request = request.map_err(|error| EngineError::BadParameter(format!("{path}: {error}")))?;
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let body = body.map_err(|error| broken(&*error))?.to_bytes();
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            return Ok(body);
        }
        let refusal: Option<Refusal> = serde_json::from_slice(&body).ok();
        let message = refusal.map_or_else(|| String::from_utf8_lossy(&body).into_owned(), |refusal| refusal.message);
        Err(EngineError::refused(status.as_u16(), message))
    }
}
