//! Closes a listener without resetting the connections that clients have already established.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Accepts all established connections, and then closes the listener.
///
/// The kernel resets connections that are not accepted before the close, even if their clients have already sent
/// requests. Call [`drop_connection_attempts`] first, so that no connection is established between the last accept and
/// the close.
pub(super) fn close(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
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
/// progress still complete.
#[cfg(target_os = "linux")]
pub(super) fn drop_connection_attempts(listener: &TcpListener) {
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
pub(super) fn drop_connection_attempts(_: &TcpListener) {}
