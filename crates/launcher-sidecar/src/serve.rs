//! The listener for the workshop's requests, and its accept loop.

mod slots;

use std::io;
use std::time::Duration;

use launcher_process::address::Address;
use launcher_process::listen::ListenOptions;
use launcher_process::listener::Listener;
use launcher_process::stop::Stop;
use socket2::TcpKeepalive;
use tokio::time::Instant;

use crate::memory::{BACKLOG, FULL, LEAN};
use crate::serve::slots::ConnectionSlots;
use crate::sidecar::Sidecar;
use crate::transport::socket::{BufferPermits, Direction, Socket};

/// Pause after a failed accept. Without it, the loop would spin while the process has no free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Idle time before the kernel probes a connection (TCP keepalive). The probes detect clients that vanish without a
/// close, as after a power failure.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Listens for the workshop's requests. An unspecified IP address means all IPv4 and IPv6 addresses. TCP connections
/// inherit the socket options from the listener, which saves four system calls per connection.
///
/// # Errors
/// Fails if the address is in use, does not belong to this host, or is not permitted.
pub fn listen(address: &Address) -> io::Result<Listener> {
    let options = ListenOptions {
        backlog: Some(BACKLOG),
        receive_buffer: Some(FULL.receive),
        send_buffer: Some(FULL.send),
        nodelay: true,
        keepalive: Some(TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 4)),
    };
    Listener::bind(address, &options)
}

/// Accepts and serves connections until a stop is requested. The stop waits for the task of each connection.
///
/// The number of connections is limited, because untrusted code in the app can connect too: it must not make the
/// sidecar exceed its memory limit. At the connection limit, a new connection displaces another one.
pub async fn serve(listener: &Listener, sidecar: Sidecar, stop: Stop) {
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
                let socket = Socket::new(stream, buffers.take());
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

/// Accepts new connections and closes them at once. Never returns. The address stays bound until the process exits:
/// otherwise an app that keeps running after the stop signal could listen on this address and receive the owner's
/// requests.
pub async fn reject_connections(listener: &Listener) {
    loop {
        if let Err(error) = listener.accept().await {
            handle_accept_error(&error).await;
        }
    }
}

async fn handle_accept_error(error: &io::Error) {
    tracing::warn!(%error, "accepting client connection failed, retrying");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
