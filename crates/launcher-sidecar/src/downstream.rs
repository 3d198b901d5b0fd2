//! The client's side of a connection: reads heads, and delivers the last response before the close.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use crate::http1::head::{MAX_HEAD_BYTES, MAX_REQUEST_LINES, Scan, Scanner};
use crate::progress::{ConnectionState, Progress};
use crate::refusal::Reason;
use crate::transport::buffers::{WriteBuffer, poll_fill, poll_read, with_scratch};
use crate::transport::deadline_timer::DeadlineTimer;
use crate::transport::{Direction, PeerIo, TransferCounter};

/// Socket, buffers and timer of a client connection.
#[derive(Debug)]
pub(crate) struct Client<IO> {
    pub(crate) io: IO,
    /// Bytes that were read from the client but are not processed yet.
    pub(crate) read_buffer: Vec<u8>,
    pub(crate) write_buffer: WriteBuffer,
    /// True if the client has closed its sending side.
    pub(crate) has_ended: bool,
    pub(crate) timer: DeadlineTimer,
    pub(crate) progress: Arc<Progress>,
    /// Bytes relayed of the current request (`up`) and of its response (`down`).
    pub(crate) up: TransferCounter,
    pub(crate) down: TransferCounter,
}

impl<IO: PeerIo> Client<IO> {
    pub(crate) fn new(io: IO, progress: Arc<Progress>) -> Self {
        Self {
            io,
            read_buffer: Vec::new(),
            write_buffer: WriteBuffer::default(),
            has_ended: false,
            timer: DeadlineTimer::default(),
            progress,
            up: TransferCounter::default(),
            down: TransferCounter::default(),
        }
    }

    /// Resets progress and byte counts at the start of an exchange.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.progress.enter(ConnectionState::Serving, now);
        self.up.restart();
        self.down.restart();
    }

    /// Removes the first `length` bytes of the read buffer.
    pub(crate) fn consume(&mut self, length: usize) {
        if length == self.read_buffer.len() {
            self.read_buffer.clear();
        } else {
            self.read_buffer.drain(..length);
        }
    }

    /// Frees the buffers and the bulk transfer permits, because an idle connection does not need them.
    pub(crate) fn release(&mut self) {
        self.read_buffer = Vec::new();
        self.write_buffer.release();
        self.up.release(self.io.socket(), Direction::Receive);
        self.down.release(self.io.socket(), Direction::Send);
    }

    /// Flushes the write buffer. Returns false on a write error, or when the timer's deadline has passed.
    pub(crate) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        match self.write_buffer.poll_flush(&mut self.io, cx) {
            Poll::Ready(written) => Poll::Ready(written.is_ok()),
            Poll::Pending => self.timer.poll(cx).map(|()| false),
        }
    }
}

/// Maximum time from the first byte of a head to its end. A new connection must also send its first byte within this
/// time. The first byte restarts the timer, so the first head is complete at most 60 s after the connection's start.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Reason why the connection has no next head.
pub(crate) enum NoHead {
    /// The client closed the connection, the idle timeout passed, or a stop was requested.
    Over,
    /// The head is invalid, too large or too slow.
    Refused(Reason),
}

/// State of the reading of one head.
struct HeadReader<'c, IO> {
    client: &'c mut Client<IO>,
    scanner: Scanner,
    /// True if the first byte of the head has arrived.
    has_begun: bool,
    has_skipped_line: bool,
}

/// Waits until `deadline` for a head to begin, and then until the head is complete. Returns the head's length. The head
/// is at the start of the read buffer. `stop` ends the wait only while no byte of the head has arrived.
pub(crate) async fn read_head<IO, S>(
    client: &mut Client<IO>,
    deadline: Instant,
    mut stop: Pin<&mut S>,
) -> Result<usize, NoHead>
where
    IO: PeerIo,
    S: Future<Output = ()>,
{
    client.timer.set(deadline);
    let mut reader = HeadReader { client, scanner: Scanner::default(), has_begun: false, has_skipped_line: false };
    poll_fn(|cx| reader.poll(stop.as_mut(), cx)).await
}

impl<IO: PeerIo> HeadReader<'_, IO> {
    fn poll<S>(&mut self, stop: Pin<&mut S>, cx: &mut Context<'_>) -> Poll<Result<usize, NoHead>>
    where
        S: Future<Output = ()>,
    {
        loop {
            if let Some(read) = self.scan() {
                return Poll::Ready(read);
            }
            let client = &mut *self.client;
            if client.has_ended {
                return Poll::Ready(Err(NoHead::Over));
            }
            match poll_fill(&mut client.io, cx, &mut client.read_buffer, MAX_HEAD_BYTES) {
                Poll::Ready(Ok(0)) => client.has_ended = true,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Err(NoHead::Over)),
                Poll::Pending => break,
            }
        }
        if self.client.read_buffer.is_empty() {
            self.client.release();
            if stop.poll(cx).is_ready() {
                return Poll::Ready(Err(NoHead::Over));
            }
        }
        let over = if self.has_begun { NoHead::Refused(Reason::HeadTooSlow) } else { NoHead::Over };
        self.client.timer.poll(cx).map(|()| Err(over))
    }

    /// Scans the read buffer for the end of the head. Returns `None` while the head is incomplete.
    fn scan(&mut self) -> Option<Result<usize, NoHead>> {
        let client = &mut *self.client;
        // Some clients send an empty line after a body (RFC 9112, 2.2). Skip at most one such line.
        if !self.has_begun && !self.has_skipped_line && client.read_buffer.starts_with(b"\r\n") {
            client.read_buffer.drain(..2);
            self.has_skipped_line = true;
        }
        if client.read_buffer.is_empty() || client.read_buffer == b"\r" {
            return None;
        }
        match self.scanner.scan(&client.read_buffer, MAX_REQUEST_LINES) {
            Scan::Complete(length) => Some(Ok(length)),
            Scan::TooLarge => Some(Err(NoHead::Refused(Reason::HeadTooLarge))),
            Scan::Malformed | Scan::BareLineFeed => Some(Err(NoHead::Refused(Reason::MALFORMED_HEAD))),
            Scan::Incomplete => {
                if !self.has_begun {
                    // First byte: the deadline for the start of the head ends, and the deadline for its end starts.
                    self.has_begun = true;
                    client.timer.set(Instant::now() + HEAD_TIMEOUT);
                }
                None
            }
        }
    }
}

/// Maximum time for the client to receive the last response.
const DELIVERY: Duration = Duration::from_secs(60);
/// Maximum time to read and discard bytes after the last response. If the sidecar closed the connection with unread
/// bytes, the kernel would reset it, and the client could lose the response.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// Closes the connection after the client has received the last response. After the delivery, reads and discards bytes
/// until the client closes, for at most `linger`.
pub(crate) async fn close<IO: PeerIo>(client: &mut Client<IO>, linger: Duration) {
    client.read_buffer = Vec::new();
    let now = Instant::now();
    client.progress.enter(ConnectionState::Transfer, now);
    client.timer.set(now + DELIVERY);
    let (mut is_delivered, mut is_shut) = (false, false);
    poll_fn(|cx| {
        if !is_delivered && client.io.poll_delivered(cx).is_ready() {
            is_delivered = true;
            if linger.is_zero() {
                return Poll::Ready(());
            }
            client.timer.set(Instant::now() + linger);
        }
        // Poll the timer before reading. Otherwise a client that never stops sending would keep the timer from firing.
        if client.timer.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if is_delivered && !is_shut {
            is_shut = Pin::new(&mut client.io).poll_shutdown(cx).is_ready();
        }
        while !client.has_ended {
            match with_scratch(|area| poll_read(&mut client.io, cx, area)) {
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => client.has_ended = true,
                Poll::Pending => break,
            }
        }
        if client.has_ended && is_shut { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
