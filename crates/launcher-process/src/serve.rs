//! HTTP server for listeners that untrusted clients can reach. It limits the time, size and header lines of a request's
//! head, and the idle time of a connection. `axum::serve` has no such limits.

mod connection;
mod head_tracker;
mod limits;
mod stream;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use connection::{ConnectionSlot, Connections, ServerContext};
use http::{Request, Response};
use hyper::body::Incoming;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::listener::ACCEPT_PAUSE;
use crate::stop::Stop;

pub use connection::{Body, BoxError, Connection};
pub use limits::{Buffers, DEFAULT_CONNECTIONS, ServeLimits};

/// Time for TCP handshakes in progress to complete before the listener closes.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(50);

/// Serves a listener until `stop` reaches its stage *drained*. Then closes the listener, and lets each connection
/// complete its in-flight request.
///
/// Once the stop is requested, each answer asks its client to close the connection. Before the server closes an
/// established connection, it waits briefly for a request that the client may already have sent.
///
/// `answer` gets each request and the address of its peer. IPv4 peers always have IPv4 addresses, also on a dual-stack
/// listener. Create `listener` with the options that [`ServeLimits::listen_options`] returns.
pub async fn serve_http<A, F>(listener: TcpListener, stop: Stop, limits: ServeLimits, answer: A)
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
        let id = slot.id;
        let task = stop.track(connection::serve(stream, peer, slot, server.clone()));
        connections.set_task(id, task.abort_handle());
    };
    accept_until(&listener, stop.drained(), &connections, &serve).await;
    drop_connection_attempts(&listener);
    accept_until(&listener, tokio::time::sleep(HANDSHAKE_TIMEOUT), &connections, &serve).await;
    for (stream, peer) in close(listener) {
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

/// Accepts all established connections, and then closes the listener.
///
/// The kernel resets connections that are not accepted before the close, even if their clients have already sent
/// requests. Call [`drop_connection_attempts`] first, so that no connection is established between the last accept and
/// the close.
fn close(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    accept_all(listener).unwrap_or_else(|error| {
        tracing::warn!(%error, "accepting pending connections failed while closing the listener, resetting them");
        Vec::new()
    })
}

fn accept_all(listener: TcpListener) -> io::Result<Vec<(TcpStream, SocketAddr)>> {
    // Accept without tokio: its listener would report the waiting connections only after the runtime's next poll.
    let listener = listener.into_std()?;
    let mut waiting = Vec::new();
    while let Ok((stream, peer)) = listener.accept() {
        stream.set_nonblocking(true)?;
        waiting.push((TcpStream::from_std(stream)?, peer));
    }
    Ok(waiting)
}

/// Makes the kernel drop new connection attempts (SYN packets), so that no connection is established between the last
/// accept and the close. The clients retry a second later, when the listener is closed or replaced. TCP handshakes in
/// progress still complete. Without this filter, the test `stop_under_load_resets_no_connection` fails in 1 of 25 runs.
#[cfg(target_os = "linux")]
fn drop_connection_attempts(listener: &TcpListener) {
    use socket2::{SockFilter, SockRef};

    // BPF program: it loads the flags byte of the TCP header, drops packets with SYN, and accepts all others.
    let filter = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x45, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&filter) {
        tracing::debug!(%error, "attaching SYN filter failed, closing the listener may reset new connections");
    }
}

#[cfg(not(target_os = "linux"))]
fn drop_connection_attempts(_: &TcpListener) {}

/// Raises the soft limit of open files to the hard limit. The default soft limit is often 1,024, because `select`
/// cannot handle more files. The connections of one course can exceed it.
pub fn raise_open_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })
    {
        tracing::warn!(%error, limit.current, "raising open file limit failed, keeping the current limit");
    }
}
