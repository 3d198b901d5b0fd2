//! Closing a listener without resetting anybody.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Closes a listener, and returns the connections that the system had let in by then: closing resets those that nobody
/// has accepted, although their clients may have sent their requests already. Precede it by [`let_nobody_in`].
pub(super) fn close(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    accept_all(listener).unwrap_or_else(|error| {
        tracing::warn!(%error, "connections that were waiting to be accepted are lost");
        Vec::new()
    })
}

fn accept_all(listener: TcpListener) -> io::Result<Vec<(TcpStream, SocketAddr)>> {
    // Asked directly: the runtime would tell of connections only after its next look at the system.
    let listener = listener.into_std()?;
    let mut waiting = Vec::new();
    while let Ok((stream, peer)) = listener.accept() {
        stream.set_nonblocking(true)?;
        waiting.push((TcpStream::from_std(stream)?, peer));
    }
    Ok(waiting)
}

/// Makes the system ignore whoever begins to connect, so that nobody gets in between the last look and the close. Their
/// clients try again a second later, and are refused then or let in by whoever listens here next. Whoever has begun to
/// connect still gets in.
#[cfg(target_os = "linux")]
pub(super) fn let_nobody_in(listener: &TcpListener) {
    use socket2::{SockFilter, SockRef};

    // A packet filter: the byte of the TCP header with the flags; when SYN is among them nothing of the packet is taken,
    // else all of it.
    let filter = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x45, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&filter) {
        tracing::debug!(%error, "connections that come while the listener closes may be reset");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn let_nobody_in(_: &TcpListener) {}
