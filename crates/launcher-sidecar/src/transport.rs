//! Connections to clients and to the app, with bounded kernel buffers.

pub(crate) mod buffers;
pub(crate) mod deadline_timer;
pub(crate) mod upstream;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use launcher_process::listener::Stream;
use launcher_process::serve::Buffers;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, Interest, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::memory::{BULK, BULK_AFTER, FULL, FULL_CONNECTIONS, LEAN};

/// A connection to a peer, which is a client or the app.
pub(crate) trait PeerIo: AsyncRead + AsyncWrite + Unpin {
    /// Returns the socket, whose kernel buffers can be resized. `None` if the connection is not a socket.
    fn socket(&self) -> Option<&Socket> {
        None
    }

    /// Ready when the peer has received all written bytes except at most 3 KiB. Must be called before the shutdown.
    /// After the call, the caller must not write.
    fn poll_delivered(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// A direction of a connection, as the sidecar sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Receive,
    Send,
}

/// Permits for full kernel buffers. While no permit is free, new connections get lean buffers. Clients and the app have
/// separate permits.
#[derive(Debug)]
pub(crate) struct BufferPermits(Arc<Semaphore>);

impl Default for BufferPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(FULL_CONNECTIONS)))
    }
}

impl BufferPermits {
    /// Returns the buffer sizes of a new connection. With full buffers, also returns the permit that the connection
    /// keeps.
    pub(crate) fn take(&self) -> (Buffers, Option<OwnedSemaphorePermit>) {
        match self.0.clone().try_acquire_owned() {
            Ok(permit) => (FULL, Some(permit)),
            Err(_) => (LEAN, None),
        }
    }
}

/// A connection over TCP or over a Unix socket.
///
/// If a TCP connection is dropped before the peer has received the written bytes, the connection is reset. After a
/// normal close, the kernel would keep these bytes for minutes, and they could exceed the memory limit. A Unix socket
/// has no reset: the kernel keeps these bytes until the peer reads or closes the connection. Its peer is the launcher.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    buffers: Buffers,
    _permit: Option<OwnedSemaphorePermit>,
    /// True if the send buffer has its minimum size, because no further byte is written.
    is_shrunk: bool,
    /// True if the sending side is shut down, which happens only after the delivery of all bytes.
    is_shut: bool,
}

impl Socket {
    /// Wraps a connection. `buffers` are the normal sizes of its kernel buffers.
    pub(crate) fn new(stream: Stream, (buffers, permit): (Buffers, Option<OwnedSemaphorePermit>)) -> Self {
        Self { stream, buffers, _permit: permit, is_shrunk: false, is_shut: false }
    }

    pub(crate) fn has_full_buffers(&self) -> bool {
        self.buffers == FULL
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Enlarges a kernel buffer for a bulk transfer.
    fn widen(&self, direction: Direction) {
        self.resize(direction, BULK);
    }

    /// Restores the normal size of a kernel buffer.
    pub(crate) fn narrow(&self, direction: Direction) {
        self.resize(direction, self.buffers);
    }

    fn resize(&self, direction: Direction, Buffers { receive, send }: Buffers) {
        let socket = SockRef::from(&self.stream);
        let resized = match direction {
            Direction::Receive => socket.set_recv_buffer_size(receive),
            Direction::Send => socket.set_send_buffer_size(send),
        };
        if let Err(error) = resized {
            tracing::debug!(%error, ?direction, "resizing kernel buffer of connection failed, keeping its size");
        }
    }

    /// True if at most two thirds of the send buffer are in use, or if the connection is broken. For a Unix socket, the
    /// limit is a quarter.
    fn is_writable(&self) -> bool {
        let mut interest = [PollFd::new(&self.stream, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut interest, Some(&now)).map_or(true, |ready| ready > 0)
    }

    /// True if the peer has acknowledged all written bytes except at most 3 KiB. The peer of a Unix socket must have
    /// read them. Shrinks the send buffer, so the caller must not write afterwards.
    fn is_delivered(&mut self) -> bool {
        if self.is_shut {
            return true;
        }
        if !self.is_shrunk {
            self.is_shrunk = true;
            // The kernel raises 0 to its minimum of 4,608 bytes. A TCP socket is writable if at most two thirds
            // (3 KiB) of them are in use, a Unix socket if at most a quarter is in use.
            drop(SockRef::from(&self.stream).set_send_buffer_size(0));
        }
        self.is_writable()
    }
}

impl PeerIo for Socket {
    fn socket(&self) -> Option<&Socket> {
        Some(self)
    }

    fn poll_delivered(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.is_delivered() {
            // Report the socket as full. This clears tokio's outdated readiness, so that the next poll waits for a new
            // event.
            let full = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            drop(self.stream.try_io(Interest::WRITABLE, full));
            if ready!(self.stream.poll_write_ready(cx)).is_err() {
                break;
            }
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, area: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, area)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_shut = true;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.is_delivered() {
            drop(SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)));
        }
    }
}

impl PeerIo for DuplexStream {}

/// Byte count of a request or a response, and its permit once it is a bulk transfer.
#[derive(Debug, Default)]
pub(crate) struct TransferCounter {
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl TransferCounter {
    /// Counts `count` bytes that were relayed from socket `from` to socket `to`. After `BULK_AFTER` bytes, enlarges the
    /// kernel buffers of both sockets if a permit is free. Returns true if it enlarged them.
    pub(crate) fn count(
        &mut self,
        count: usize,
        permits: &Arc<Semaphore>,
        from: Option<&Socket>,
        to: Option<&Socket>,
    ) -> bool {
        self.bytes += count;
        if self.permit.is_some() || self.bytes < BULK_AFTER {
            return false;
        }
        self.bytes = 0;
        self.permit = permits.clone().try_acquire_owned().ok();
        if self.permit.is_none() {
            return false;
        }
        if let Some(from) = from {
            from.widen(Direction::Receive);
        }
        if let Some(to) = to {
            to.widen(Direction::Send);
        }
        true
    }

    /// Resets the byte count for the next request or response.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
    }

    /// Restores the normal size of the client's kernel buffer. Releases the permit once the bytes in the buffer fit
    /// into that size.
    pub(crate) fn release(&mut self, client: Option<&Socket>, direction: Direction) {
        if self.permit.is_none() {
            return;
        }
        let is_narrow = client.is_none_or(|client| {
            client.narrow(direction);
            direction == Direction::Receive || client.is_writable()
        });
        if is_narrow {
            self.permit = None;
        }
    }
}
