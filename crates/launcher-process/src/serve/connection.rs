//! One connection, from its first byte to its end.

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

use super::Body;
use super::connections::Place;
use super::heads::{Heads, IDLE_TIMEOUT};
use super::stream::BoundedStream;
use crate::stop::Stop;

/// How large a request's head may be, in bytes, before more of it is waited for. A head of up to twice this size that
/// arrives in one piece is still read.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How many header lines a request may have.
const MAX_HEADERS: usize = 100;
/// How long a client may be silent before the kernel asks whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How long to wait for a head that is under way when the listener has been closed: whoever was let in has most likely
/// sent a request already.
const LAST_HEAD: Duration = Duration::from_secs(1);

/// The connection of a request, among its extensions.
#[derive(Debug, Clone)]
pub struct Connection(Heads);

impl Connection {
    /// Notes that the connection carries a workshop's traffic: it gets larger buffers, and its client more time.
    pub fn carry_workshop(&self) {
        self.0.relax();
    }
}

/// What all connections of a listener are served with.
#[derive(Debug, Clone)]
pub(super) struct Serving<A> {
    pub(super) stop: Stop,
    /// After this a connection takes no request but one that is on its way.
    pub(super) closed: CancellationToken,
    pub(super) answer: A,
}

/// Answers the requests of a connection.
pub(super) async fn serve<A, F>(stream: TcpStream, peer: SocketAddr, place: Place, serving: Serving<A>)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    set_options(&stream);
    let heads = place.heads().clone();
    let Serving { stop, closed, answer } = serving;
    let completed = heads.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        completed.complete(!request.body().is_end_stream());
        request.extensions_mut().insert(Connection(completed.clone()));
        let (response, stop, heads) = (answer(request, peer), stop.clone(), completed.clone());
        async move {
            let mut response = response.await;
            heads.answer();
            let is_last = stop.is_requested() || heads.was_large();
            if is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(heads.clone())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(BoundedStream::new(stream, place)), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        biased;
        outcome = connection.as_mut() => Some(outcome),
        () = closed.cancelled() => {
            // Goes on as long as a head is under way.
            let last_head = poll_fn(|cx| match connection.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if heads.is_under_way() => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            });
            tokio::time::timeout(LAST_HEAD, last_head).await.ok().flatten()
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
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}

fn set_options(stream: &TcpStream) {
    // Answers are small and waited for: sending them at once matters more than fewer packets.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
    // A tunnel or an event stream to a client that has vanished would stay for ever.
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE)) {
        tracing::debug!(%error, "TCP keepalive was not set");
    }
}
