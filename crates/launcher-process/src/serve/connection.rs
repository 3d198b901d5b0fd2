//! Serves one client connection until it closes.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::body::Body;
use super::connections::ConnectionSlot;
use super::head_tracker::{HeadTracker, IDLE_TIMEOUT};
use super::stream::BoundedStream;
use crate::stop::Stop;

/// Maximum size of hyper's read buffer, in bytes. hyper refuses a larger head, except one of up to twice this size that
/// arrives in one piece.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum number of header lines of a request.
const MAX_HEADERS: usize = 100;
/// Idle time of a connection before the kernel probes whether the client still exists (TCP keepalive).
const KEEPALIVE: Duration = Duration::from_secs(60);
/// Maximum wait for an incomplete head after the listener has closed. A head that was sent before the close arrives
/// within this time.
const LAST_HEAD_TIMEOUT: Duration = Duration::from_secs(1);

/// Request extension with which a handler configures the connection of its request.
#[derive(Debug, Clone)]
pub struct Connection(HeadTracker);

impl Connection {
    /// Marks the connection as carrying a workshop's traffic. Its kernel buffers become larger, its client may read
    /// nothing for 5 minutes, and a slow body or a slow reader no longer counts as stuck.
    pub fn carry_workshop(&self) {
        self.0.relax();
    }
}

/// State that all connections of a listener share.
#[derive(Debug, Clone)]
pub(super) struct ServerContext<A> {
    pub(super) stop: Stop,
    /// Cancelled when the listener closes. Each connection then answers the request that it has begun to receive, and
    /// closes. A new connection waits up to one second for its first request.
    pub(super) closed: CancellationToken,
    pub(super) answer: A,
}

/// Answers the requests of one connection until it closes.
pub(super) async fn serve<A, F>(stream: TcpStream, peer: SocketAddr, slot: ConnectionSlot, server: ServerContext<A>)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    set_options(&stream);
    let tracker = slot.tracker().clone();
    let ServerContext { stop, closed, answer } = server;
    let completed = tracker.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        completed.complete(!request.body().is_end_stream());
        request.extensions_mut().insert(Connection(completed.clone()));
        let (response, stop, tracker) = (answer(request, peer), stop.clone(), completed.clone());
        async move {
            let mut response = response.await;
            tracker.answer();
            let is_last = stop.is_requested() || tracker.was_large();
            if is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(tracker.clone())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(BoundedStream::new(stream, slot)), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        biased;
        outcome = connection.as_mut() => Some(outcome),
        () = closed.cancelled() => {
            // Wait until a head that has begun is complete. Also wait for the first head of a new connection: its
            // client may have sent the head before the listener closed.
            let last_head = poll_fn(|cx| match connection.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if tracker.is_receiving_head() => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            });
            tokio::time::timeout(LAST_HEAD_TIMEOUT, last_head).await.ok().flatten()
        }
    };
    let outcome = match ended {
        Some(outcome) => outcome,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, %peer, "client connection failed, closed it");
    }
}

fn set_options(stream: &TcpStream) {
    // Most answers are small, and clients wait for them. Low latency matters more than fewer packets.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "setting TCP_NODELAY failed, answers may be delayed");
    }
    // Without TCP keepalive, a WebSocket or event stream to a vanished client would stay open forever.
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE)) {
        tracing::debug!(%error, "setting TCP keepalive failed, the connection of a vanished client may stay open");
    }
}
