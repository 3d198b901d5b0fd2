//! A proxy to the engine, on which some requests fail.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bollard::query_parameters::KillContainerOptions;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::fleet::containers;
use super::{docker, engine, in_time, socket, until};

/// Effect of a fault on one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The engine does what the request says, but its response never arrives.
    ResponseLost,
    /// The engine never gets the request, and the response is an internal error.
    InternalError,
    /// The engine never gets the request, and the response says that the disk is full.
    DiskFull,
    /// The engine never gets the request, and the response says that another container has the name.
    NameTaken,
}

/// Decides by method and path if a request fails.
type Faults = Box<dyn Fn(&Method, &str) -> Option<Fault> + Send + Sync>;

/// A proxy to the engine of the tests.
pub(crate) struct FaultyEngine {
    directory: TempDir,
    /// Number of failed requests.
    failed: watch::Receiver<usize>,
    is_blind: Arc<AtomicBool>,
    server: JoinHandle<()>,
}

impl FaultyEngine {
    pub(crate) fn new(faults: impl Fn(&Method, &str) -> Option<Fault> + Send + Sync + 'static) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("engine.sock")).unwrap();
        let (failures, failed) = watch::channel(0);
        let is_blind = Arc::new(AtomicBool::new(false));
        let proxy = Proxy { faults: Box::new(faults), failures, is_blind: Arc::clone(&is_blind) };
        let routes = Router::new().fallback(answer).with_state(Arc::new(proxy));
        let server = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { directory, failed, is_blind, server }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("engine.sock")
    }

    /// Waits until a request has failed.
    pub(crate) async fn until_failed(&self) {
        in_time(self.failed.clone().wait_for(|failed| *failed > 0)).await.unwrap();
    }

    /// Kills all containers of the fleet with this data directory. The fleet never finds that only one of them has ended:
    /// until all have ended, its inspections fail. They do not count as failed requests.
    pub(crate) async fn kill_all(&self, data_dir: &Path) {
        self.is_blind.store(true, Ordering::SeqCst);
        for container in containers(data_dir).await {
            docker().kill_container(&container.name, None::<KillContainerOptions>).await.unwrap();
            until(async || !engine().inspect(&container.name).await.unwrap().unwrap().running).await;
        }
        self.is_blind.store(false, Ordering::SeqCst);
    }
}

impl Drop for FaultyEngine {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// State of the server.
struct Proxy {
    faults: Faults,
    failures: watch::Sender<usize>,
    /// True while inspections of containers fail.
    is_blind: Arc<AtomicBool>,
}

async fn answer(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let path = request.uri().path();
    if proxy.is_blind.load(Ordering::SeqCst) && path.starts_with("/containers/") && path.ends_with("/json") {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "the test hides the containers");
    }
    let Some(fault) = (proxy.faults)(request.method(), path) else { return forward(request).await };
    if fault == Fault::ResponseLost {
        forward(request).await;
    }
    proxy.failures.send_modify(|failed| *failed += 1);
    match fault {
        Fault::ResponseLost => std::future::pending().await,
        Fault::InternalError => refusal(StatusCode::INTERNAL_SERVER_ERROR, "the test wants an error"),
        Fault::DiskFull => refusal(StatusCode::INTERNAL_SERVER_ERROR, "no space left on device"),
        Fault::NameTaken => refusal(StatusCode::CONFLICT, "the name is already in use"),
    }
}

fn refusal(status: StatusCode, message: &str) -> Response {
    (status, serde_json::json!({ "message": message }).to_string()).into_response()
}

async fn forward(request: Request) -> Response {
    let stream = UnixStream::connect(socket()).await.unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    // The connection ends with the response's body.
    tokio::spawn(connection);
    sender.send_request(request).await.unwrap().map(Body::new)
}
