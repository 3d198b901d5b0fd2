//! Reads the next request head from a client connection.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::client::Client;
use crate::http1::head::{MAX_HEAD_BYTES, MAX_REQUEST_LINES, Scan, Scanner};
use crate::refusal::Reason;
use crate::transport::buffers::poll_fill;
use crate::transport::socket::PeerIo;

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
            Scan::Malformed => Some(Err(NoHead::Refused(Reason::MALFORMED_HEAD))),
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
