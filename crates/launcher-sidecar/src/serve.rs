//! Accepting connections.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use launcher_process::stop::Stop;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpSocket};

use crate::sidecar::Sidecar;

/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// After how much silence a client is asked whether it is still there: a node that loses its power says no goodbye.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Listens. What a connection inherits from its listener is set here, before the first one: it would cost four calls of
/// the kernel for each.
///
/// # Errors
/// The address cannot be had.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_nodelay(true)?;
    socket.set_keepalive(true)?;
    sockopt::set_tcp_keepidle(&socket, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(&socket, KEEPALIVE / 4)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections and lets the sidecar serve them, until the stop is requested. Each connection is a task that the
/// stop waits for.
pub async fn serve(listener: TcpListener, sidecar: Sidecar, stop: Stop) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.requested() => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (sidecar, stopped) = (sidecar.clone(), stop.clone());
                let peer = peer.ip().to_canonical();
                // Boxed, because the task would otherwise hold the connection's whole state twice.
                stop.track(Box::pin(async move { sidecar.serve_connection(stream, Some(peer), stopped).await }));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
