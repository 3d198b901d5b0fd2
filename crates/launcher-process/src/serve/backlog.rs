//! Closes a listener without resetting connections.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Closes a listener, and returns the connections that the kernel has established by then. The close resets connections
/// that were not accepted, although their clients may have sent requests already. Call [`drop_connection_attempts`]
/// first.
pub(super) fn close(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    accept_all(listener).unwrap_or_else(|error| {
        tracing::warn!(%error, "accepting pending connections failed: they are lost");
        Vec::new()
    })
}

fn accept_all(listener: TcpListener) -> io::Result<Vec<(TcpStream, SocketAddr)>> {
    // Accepts directly, because the runtime would report these connections only after its next poll.
    let listener = listener.into_std()?;
    let mut waiting = Vec::new();
    while let Ok((stream, peer)) = listener.accept() {
        stream.set_nonblocking(true)?;
        waiting.push((TcpStream::from_std(stream)?, peer));
    }
    Ok(waiting)
}

/// Makes the kernel drop new connection attempts (SYN), so that none is established between the last accept and the
/// close. Their clients retry a second later; they are then refused, or accepted by the next listener. Handshakes in
/// progress still complete.
#[cfg(target_os = "linux")]
pub(super) fn drop_connection_attempts(listener: &TcpListener) {
    use socket2::{SockFilter, SockRef};

    // A packet filter on the flags byte of the TCP header: drops packets with SYN, accepts all others.
    let filter = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x45, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&filter) {
        tracing::debug!(%error, "attaching SYN filter failed: connections may be reset while the listener closes");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn drop_connection_attempts(_: &TcpListener) {}
