//! HTTP server for listeners that untrusted clients can reach. It limits the time, size and header lines of a request's
//! head, and the idle time of a connection. `axum::serve` has no such limits.

mod backlog;
mod body;
mod connection;
mod connections;
mod head_tracker;
mod limits;
mod stream;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::stop::Stop;
pub use body::{Body, BoxError};
pub use connection::Connection;
use connection::ServerContext;
use connections::{ConnectionSlot, Connections};
pub use limits::{Buffers, DEFAULT_CONNECTIONS, ServeLimits};

/// Pause after a failed accept. Without it, the loop would spin while the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Time for TCP handshakes in progress to complete before the listener closes.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(50);

/// Serves a listener until `stop` reaches its stage *drained*. Then closes the listener, and lets each connection
/// complete its in-flight request.
///
/// Once the stop is requested, each answer asks its client to close the connection. Before the server closes an
/// established connection, it waits briefly for a request that the client may already have sent.
///
/// `answer` gets each request and the address of its peer. IPv4 peers always have IPv4 addresses, also on a dual-stack
/// listener. The limits are [`ServeLimits::default`].
pub async fn serve_http<A, F>(listener: TcpListener, stop: Stop, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    serve_http_within(listener, stop, ServeLimits::default(), answer).await;
}

/// Serves a listener like [`serve_http`], with the given limits. Create `listener` with the options that
/// [`ServeLimits::listen_options`] returns.
pub async fn serve_http_within<A, F>(listener: TcpListener, stop: Stop, limits: ServeLimits, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let closed = CancellationToken::new();
    // If the caller drops this future, this guard cancels `closed`: each connection then ends after its in-flight
    // request.
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
                tracing::warn!(%error, "accepting client connection failed, retrying");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
