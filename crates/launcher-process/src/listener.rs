//! Listeners on TCP ports and on Unix sockets, and their connections.

mod unix;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::address::Address;
use crate::listen::{ListenOptions, listen};

/// A listener on a TCP port or on a Unix socket.
#[derive(Debug)]
pub enum Listener {
    /// Listens on a TCP port.
    Tcp(TcpListener),
    /// Listens on a Unix socket.
    Unix {
        /// The listening socket.
        listener: UnixListener,
        /// Kernel send buffer of each connection, in bytes. Connections of a Unix socket do not inherit it.
        send_buffer: Option<usize>,
    },
}

impl Listener {
    /// Listens on an address. Must be called within a tokio runtime.
    ///
    /// For a TCP port, see [`listen`]. The file of a Unix socket gets mode 0600: only its user, and root, can connect.
    /// A stale socket file, on which no process listens, is replaced. Of the options, only the backlog and the send
    /// buffer apply to Unix sockets: a sender's buffer also holds the bytes that the receiver has not read.
    ///
    /// # Errors
    /// Fails if another process listens on the address, if the path is a file that is not a socket, or if the address
    /// cannot be bound.
    pub fn bind(address: &Address, options: &ListenOptions) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => listen(*address, options).map(Self::Tcp),
            Address::Unix(path) => {
                let listener = unix::listen(path, options.backlog())?;
                Ok(Self::Unix { listener, send_buffer: options.send_buffer })
            }
        }
    }

    /// Accepts a connection. Returns it with the IP address of its peer. IPv4 peers have IPv4 addresses, also on a
    /// dual-stack listener. Peers of a Unix socket have no address.
    ///
    /// # Errors
    /// Fails if the process has no free file descriptor, or if the connection failed before it was accepted.
    pub async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Stream::Tcp(stream), Some(peer.ip().to_canonical())))
            }
            Self::Unix { listener, send_buffer } => {
                let (stream, _) = listener.accept().await?;
                if let Some(bytes) = send_buffer {
                    SockRef::from(&stream).set_send_buffer_size(*bytes)?;
                }
                Ok((Stream::Unix(stream), None))
            }
        }
    }
}

/// A connection over TCP or over a Unix socket.
#[derive(Debug)]
pub enum Stream {
    /// A TCP connection.
    Tcp(TcpStream),
    /// A connection of a Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Reads bytes that have already arrived.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no bytes have arrived, or the error of the connection.
    pub fn try_read(&self, area: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(area),
            Self::Unix(stream) => stream.try_read(area),
        }
    }

    /// Calls `operation` if the connection is ready. If it returns `WouldBlock`, the connection counts as not ready
    /// until its next event.
    ///
    /// # Errors
    /// Returns `WouldBlock` if the connection is not ready, or the error of `operation`.
    pub fn try_io<T>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Tcp(stream) => stream.try_io(interest, operation),
            Self::Unix(stream) => stream.try_io(interest, operation),
        }
    }

    /// Ready when the connection is writable.
    ///
    /// # Errors
    /// Fails if the runtime shuts down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_write_ready(cx),
            Self::Unix(stream) => stream.poll_write_ready(cx),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, area: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, area),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, area),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
