//! A proxy to the engine, on which some requests fail.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{in_time, socket};

/// Effect of a fault on one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The engine does what the request says, but its response never arrives.
    ResponseLost,
    /// The engine never gets the request, and the response is an internal error.
    InternalError,
    /// The engine never gets the request, and the response says that the disk is full.
    DiskFull,
}

/// Decides by method and path if a request fails.
type Faults = Box<dyn Fn(&Method, &str) -> Option<Fault> + Send + Sync>;

/// A proxy to the engine of the tests.
pub(crate) struct FaultyEngine {
    directory: TempDir,
    /// Number of failed requests.
    failed: watch::Receiver<usize>,
    server: JoinHandle<()>,
}

impl FaultyEngine {
    pub(crate) fn new(faults: impl Fn(&Method, &str) -> Option<Fault> + Send + Sync + 'static) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("engine.sock")).unwrap();
        let (failures, failed) = watch::channel(0);
        let faults: Faults = Box::new(faults);
        let routes = Router::new().fallback(answer).with_state(Arc::new((faults, failures)));
        let server = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { directory, failed, server }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("engine.sock")
    }

    /// Waits until a request has failed.
    pub(crate) async fn until_failed(&self) {
        in_time(self.failed.clone().wait_for(|failed| *failed > 0)).await.unwrap();
    }
}

impl Drop for FaultyEngine {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(state): State<Arc<(Faults, watch::Sender<usize>)>>, request: Request) -> Response {
    let (faults, failures) = &*state;
    match faults(request.method(), request.uri().path()) {
        None => forward(request).await,
        Some(fault @ (Fault::InternalError | Fault::DiskFull)) => {
            failures.send_modify(|failed| *failed += 1);
            let message = if fault == Fault::DiskFull { "no space left on device" } else { "the test wants an error" };
            let body = serde_json::json!({ "message": message }).to_string();
            (StatusCode::INTERNAL_SERVER_ERROR, body).into_response()
        }
        Some(Fault::ResponseLost) => {
            forward(request).await;
            failures.send_modify(|failed| *failed += 1);
            std::future::pending().await
        }
    }
}

async fn forward(request: Request) -> Response {
    let stream = UnixStream::connect(socket()).await.unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    // The connection ends with the response's body.
    tokio::spawn(connection);
    sender.send_request(request).await.unwrap().map(Body::new)
}
