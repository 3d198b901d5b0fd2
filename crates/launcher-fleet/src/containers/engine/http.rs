//! Requests without bollard. The answers are parsed with small types of this module's callers: bollard's types refuse
//! values that they do not know, for example Podman's container state `stopped`, and a list with one such container as a
//! whole.

use bytes::Bytes;
use http::header::HOST;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio_util::task::AbortOnDropHandle;

use super::{Engine, EngineError, LONG, SHORT};

/// Maximum size of an answer. A list has about 2 KiB for each container.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Body of an error response.
#[derive(Deserialize)]
struct Refusal {
    message: String,
}

impl Engine {
    /// Requests a resource, and parses the answer.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, EngineError> {
        match tokio::time::timeout(SHORT, self.request(Method::GET, path)).await {
            Ok(answer) => serde_json::from_slice(&answer?)
                .map_err(|error| EngineError::Other(format!("its answer to {path} cannot be read: {error}"))),
            Err(_) => Err(EngineError::no_answer(&self.socket, SHORT)),
        }
    }

    /// Sends a request without a body, and ignores the answer of a success. The status 304 is a success, too: the resource
    /// is already in the wanted state.
    pub(super) async fn post(&self, path: &str) -> Result<(), EngineError> {
        match tokio::time::timeout(LONG, self.request(Method::POST, path)).await {
            Ok(answer) => answer.map(drop),
            Err(_) => Err(EngineError::no_answer(&self.socket, LONG)),
        }
    }

    async fn request(&self, method: Method, path: &str) -> Result<Bytes, EngineError> {
        let broken = |error: &dyn std::error::Error| EngineError::broken(&self.socket, &error.to_string());
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
