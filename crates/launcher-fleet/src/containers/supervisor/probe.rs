//! Asks a sidecar through its Unix socket whether it serves, and whether the app accepts connections.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use launcher_workshop::app::READINESS;
use tokio::time::{sleep, timeout};

use crate::containers::connector::{TELEMETRY_SOCKET, connect_in};

/// Polling interval while the app is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Polling interval while the sidecar does not listen. It starts within milliseconds.
const SIDECAR_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until the sidecar serves, whose sockets are in this directory.
pub(super) async fn wait_until_serving(run_dir: &Path) {
    while connect_in(run_dir, TELEMETRY_SOCKET).await.is_err() {
        sleep(SIDECAR_POLL_INTERVAL).await;
    }
}

/// Waits until the sidecar is ready, whose sockets are in this directory. It is ready only while the app accepts
/// connections.
pub(super) async fn wait_until_ready(run_dir: &Path) {
    while !matches!(timeout(READINESS.timeout, is_ready(run_dir)).await, Ok(Some(StatusCode::OK))) {
        sleep(POLL_INTERVAL).await;
    }
}

async fn is_ready(run_dir: &Path) -> Option<StatusCode> {
    let stream = connect_in(run_dir, TELEMETRY_SOCKET).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::get(READINESS.path).header(HOST, "sidecar").body(Empty::<Bytes>::new()).ok()?;
    // The sidecar closes the connection after its answer. The connection may then end before the response is read.
    match select(pin!(sender.send_request(request)), pin!(connection)).await {
        Either::Left((response, _)) => Some(response.ok()?.status()),
        Either::Right((_, response)) => Some(response.await.ok()?.status()),
    }
}
