//! HTTP server for listeners that are reachable from outside. It limits the time, size and header lines of a request's
//! head, and the idle time of a connection. `axum::serve` sets no such limits.

mod backlog;
mod connection;
mod connections;
mod head_tracker;
mod limits;
mod stream;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::stop::Stop;
pub use connection::Connection;
use connection::ServerContext;
use connections::{ConnectionSlot, Connections};
pub use limits::{Buffers, DEFAULT_CONNECTIONS, ServeLimits};

/// The error of an aborted body.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of a response, from any source.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Delay when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Maximum time for TCP handshakes in progress when the listener closes.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(50);

/// Serves a listener until the stop is requested and drained, then closes the listener and lets each connection finish.
///
/// From the stop request on, each answer asks its client to close the connection. An established connection is not
/// dropped without an answer if its request is on its way: the server checks for requests a last time.
///
/// `answer` gets each request with the address of its peer; on a dual-stack listener, too, IPv4 peers have IPv4
/// addresses. The limits are [`ServeLimits::default`].
pub async fn serve_http<A, F>(listener: TcpListener, stop: Stop, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    serve_http_within(listener, stop, ServeLimits::default(), answer).await;
}

/// [`serve_http`] with other limits. Listen with their [`ServeLimits::listen_options`].
pub async fn serve_http_within<A, F>(listener: TcpListener, stop: Stop, limits: ServeLimits, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let closed = CancellationToken::new();
    // Also if this future is dropped: connections may outlive it only by their in-flight requests.
    let _closed = closed.clone().drop_guard();
    let connections = Connections::new(limits);
    let server = ServerContext { stop: stop.clone(), closed, answer };
    let serve = |stream: TcpStream, mut peer: SocketAddr, slot: ConnectionSlot| {
        peer.set_ip(peer.ip().to_canonical());
        let id = slot.id();
        let task = stop.track(connection::serve(stream, peer, slot, server.clone()));
        connections.set_task(id, task.abort_handle());
    };
    accept_until(&listener, stop.drained(), &connections, &serve).await;
    backlog::drop_connection_attempts(&listener);
    accept_until(&listener, tokio::time::sleep(HANDSHAKE_TIMEOUT), &connections, &serve).await;
    for (stream, peer) in backlog::close(listener) {
        serve(stream, peer, connections.admit_over_limit());
    }
}

async fn accept_until(
    listener: &TcpListener,
    end: impl Future<Output = ()>,
    connections: &Connections,
    serve: impl Fn(TcpStream, SocketAddr, ConnectionSlot),
) {
    let mut end = std::pin::pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = end.as_mut() => return,
        };
        match accepted {
            Ok((stream, peer)) => tokio::select! {
                biased;
                slot = connections.admit() => serve(stream, peer, slot),
                () = end.as_mut() => return serve(stream, peer, connections.admit_over_limit()),
            },
            Err(error) => {
                tracing::warn!(%error, "accepting connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
