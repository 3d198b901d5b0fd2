//! The socket of one connection, with bounded memory. Large heads share a memory budget. A client that does not read
//! its answer is disconnected.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::PollSemaphore;

use super::limits::Buffers;
use crate::serve::connection::ConnectionSlot;

/// Free space that hyper requires in its read buffer before it reads, in bytes.
const READ_ROOM: usize = 8 * 1024;
/// Size up to which hyper's read buffer needs no memory permits, in bytes.
const FREE_READ_BUFFER: usize = 16 * 1024;

/// The socket of one connection. After an upgrade, it also carries the WebSocket, and keeps the connection's slot until
/// the WebSocket ends.
#[derive(Debug)]
pub(super) struct BoundedStream {
    stream: TcpStream,
    slot: ConnectionSlot,
    large_heads: PollSemaphore,
    /// Memory permits for a large head. The connection keeps them until it closes, because hyper never shrinks its read
    /// buffer.
    large_head: Option<OwnedSemaphorePermit>,
    large_answer: Option<OwnedSemaphorePermit>,
    stall: Option<Pin<Box<Sleep>>>,
    /// True if the last write made no progress.
    is_stalled: bool,
    /// True from the first write without progress until the whole answer is written.
    is_write_blocked: bool,
    is_relaxed: bool,
}

/// Requested kernel buffers of a connection that carries a workshop's traffic, in bytes.
const WORKSHOP_BUFFERS: Buffers = Buffers { receive: 256 * 1024, send: 256 * 1024 };
/// Maximum time in which the client of a workshop's connection reads no byte. A laptop may be suspended for a while.
const WORKSHOP_WRITE_STALL: Duration = Duration::from_secs(300);

impl BoundedStream {
    pub(super) fn new(stream: TcpStream, slot: ConnectionSlot) -> Self {
        Self {
            large_heads: PollSemaphore::new(slot.large_heads()),
            stream,
            slot,
            large_head: None,
            large_answer: None,
            stall: None,
            is_stalled: false,
            is_write_blocked: false,
            is_relaxed: false,
        }
    }

    /// Waits for the memory permits that hyper's read buffer needs before it can receive more of a large head. Ready at
    /// once if no further permit is needed.
    fn poll_room_for_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let needed = beyond_free(self.slot.tracker.head_bytes());
        let held = self.large_head.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let Some(missing) = needed.checked_sub(held).filter(|missing| *missing > 0) else { return Poll::Ready(Ok(())) };
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let Some(permit) = ready!(self.large_heads.poll_acquire_many(cx, missing)) else {
            return Poll::Ready(Err(io::ErrorKind::OutOfMemory.into()));
        };
        match &mut self.large_head {
            Some(held) => held.merge(permit),
            None => self.large_head = Some(permit),
        }
        Poll::Ready(Ok(()))
    }

    /// Tracks the progress of a write. Returns an error if the client has read no byte for too long.
    fn poll_progress<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_stalled = false;
            return written;
        }
        if !self.is_write_blocked {
            self.is_write_blocked = true;
            self.slot.tracker.set_write_blocked(true);
            self.enlarge_send_buffer();
        }
        let patience = if self.is_relaxed { WORKSHOP_WRITE_STALL } else { self.slot.limits().write_stall };
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(patience)));
        if !self.is_stalled {
            self.is_stalled = true;
            stall.as_mut().reset(Instant::now() + patience);
        }
        ready!(stall.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }

    /// Records that the whole answer is written.
    fn clear_write_block(&mut self) {
        if self.is_write_blocked {
            self.is_write_blocked = false;
            self.slot.tracker.set_write_blocked(false);
        }
    }

    /// Enlarges the kernel's send buffer for an answer that does not fit, if the memory budget allows it. The
    /// connection keeps the permit until it closes, because the kernel may still hold bytes in the buffer.
    fn enlarge_send_buffer(&mut self) {
        if self.large_answer.is_some() || self.is_relaxed {
            return;
        }
        if let Some((size, memory)) = self.slot.limits().larger_send_buffer()
            && let Some(permit) = self.slot.take_large_answer(memory)
        {
            self.large_answer = Some(permit);
            note(SockRef::from(&self.stream).set_send_buffer_size(size));
        }
    }

    /// Enlarges the kernel buffers once the connection carries a workshop's traffic.
    fn relax(&mut self) {
        if !self.is_relaxed && self.slot.tracker.is_relaxed() {
            self.is_relaxed = true;
            let socket = SockRef::from(&self.stream);
            note(socket.set_recv_buffer_size(WORKSHOP_BUFFERS.receive));
            note(socket.set_send_buffer_size(WORKSHOP_BUFFERS.send));
        }
    }
}

fn note(outcome: io::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "resizing kernel buffer of client connection failed, keeping its size");
    }
}

/// Returns the number of bytes by which hyper's read buffer exceeds [`FREE_READ_BUFFER`] when it holds `head_bytes` of
/// an incomplete head.
fn beyond_free(head_bytes: usize) -> usize {
    (head_bytes + READ_ROOM + 1).next_power_of_two().saturating_sub(FREE_READ_BUFFER)
}

impl AsyncRead for BoundedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_room_for_head(cx))?;
        self.relax();
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.slot.tracker.read(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.relax();
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.poll_progress(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.relax();
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.poll_progress(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.clear_write_block();
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::beyond_free;

    #[test]
    fn large_head_needs_permits_for_read_buffer_beyond_16_kib() {
        for (head, beyond) in [(0, 0), (8191, 0), (8192, 16), (24_575, 16), (24_576, 48), (57_344, 112)] {
            assert_eq!(beyond_free(head), beyond * 1024, "{head}");
        }
    }
}
