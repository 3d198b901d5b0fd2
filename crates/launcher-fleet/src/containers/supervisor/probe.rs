//! Asks a sidecar through its Unix socket whether the app accepts connections.

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
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

/// Polling interval while the app is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Waits until the sidecar is ready. It is ready only while the app accepts connections.
pub(super) async fn wait_until_ready(socket: &Path) {
    while !matches!(timeout(READINESS.timeout, is_ready(socket)).await, Ok(Some(StatusCode::OK))) {
        sleep(POLL_INTERVAL).await;
    }
}

async fn is_ready(socket: &Path) -> Option<StatusCode> {
    let stream = UnixStream::connect(socket).await.ok()?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::get(READINESS.path).header(HOST, "sidecar").body(Empty::<Bytes>::new()).ok()?;
    // The sidecar closes the connection after its answer. The connection may then end before the response is read.
    match select(pin!(sender.send_request(request)), pin!(connection)).await {
        Either::Left((response, _)) => Some(response.ok()?.status()),
        Either::Right((_, response)) => Some(response.await.ok()?.status()),
    }
}
