//! The listener for the workshop's users, and its accept loop.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use launcher_process::listen::ListenOptions;
use launcher_process::stop::Stop;
use socket2::TcpKeepalive;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::memory::{BACKLOG, FULL, LEAN};
use crate::sidecar::Sidecar;
use crate::slots::ConnectionSlots;
use crate::socket::{BufferPermits, Direction, Socket};

/// Pause after a failed accept, as when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Idle time before TCP keepalive probes: a node that loses power does not close its connections.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Listens for the workshop's users; an unspecified address means both address families. Sets the socket options that
/// connections inherit from the listener: setting them per connection would cost four system calls.
///
/// # Errors
/// The address is in use, does not belong to this host, or is not permitted.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let options = ListenOptions {
        backlog: Some(BACKLOG),
        receive_buffer: Some(FULL.receive),
        send_buffer: Some(FULL.send),
        nodelay: true,
        keepalive: Some(TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4)),
    };
    launcher_process::listen::listen(address, &options)
}

/// Accepts connections and serves them until a stop is requested. The stop waits for the task of each connection. The
/// number of connections is bounded: the app can connect too, and must not make the sidecar exceed its memory limit. At
/// the bound, a new connection displaces another one.
pub async fn serve(listener: &TcpListener, sidecar: Sidecar, stop: Stop) {
    let (slots, buffers) = (ConnectionSlots::new(), BufferPermits::new(LEAN));
    loop {
        let accepted = async {
            let permit = slots.reserve().await;
            listener.accept().await.map(|(stream, peer)| (stream, peer, permit))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = stop.requested() => return,
        };
        match accepted {
            Ok((stream, peer, Some(permit))) => {
                let (served, stopped) = (sidecar.clone(), stop.clone());
                let (socket, peer) = (Socket::new(stream, buffers.take()), peer.ip().to_canonical());
                if !socket.has_full_buffers() {
                    socket.narrow(Direction::Receive);
                    socket.narrow(Direction::Send);
                }
                slots.spawn(permit, &stop, |progress| async move {
                    served.serve_socket(socket, peer, progress, stopped).await;
                });
                sidecar.count_displaced(slots.displace_connections(Instant::now()));
            }
            Ok((_, _, None)) => return,
            Err(error) => handle_accept_error(&error).await,
        }
    }
}

/// Accepts and closes new connections; never returns. This keeps the port bound until the process exits: an app that
/// keeps running after the stop signal could otherwise listen on it.
pub async fn reject_connections(listener: &TcpListener) {
    loop {
        if let Err(error) = listener.accept().await {
            handle_accept_error(&error).await;
        }
    }
}

async fn handle_accept_error(error: &io::Error) {
    tracing::warn!(%error, "accepting connection failed");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
