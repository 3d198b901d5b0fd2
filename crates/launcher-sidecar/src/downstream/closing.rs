//! Closes a client connection after the client has received the last response.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::client::Client;
use crate::downstream::progress::ConnectionState;
use crate::transport::buffers::{poll_read, with_scratch};
use crate::transport::socket::PeerIo;

/// Maximum time for the client to receive the last response.
const DELIVERY: Duration = Duration::from_secs(60);
/// Maximum time to read and discard bytes after the last response. If the sidecar closed the connection with unread
/// bytes, the kernel would reset it, and the client could lose the response.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// State of a close in progress.
struct Closing<'c, IO> {
    client: &'c mut Client<IO>,
    linger: Duration,
    is_delivered: bool,
    is_shut: bool,
}

/// Closes the connection after the client has received the last response. After the delivery, reads and discards bytes
/// until the client closes, for at most `linger`.
pub(crate) async fn close<IO: PeerIo>(client: &mut Client<IO>, linger: Duration) {
    client.read_buffer = Vec::new();
    let now = Instant::now();
    client.progress.enter(ConnectionState::Transfer, now);
    client.timer.set(now + DELIVERY);
    let mut closing = Closing { client, linger, is_delivered: false, is_shut: false };
    poll_fn(|cx| closing.poll(cx)).await;
}

impl<IO: PeerIo> Closing<'_, IO> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let client = &mut *self.client;
        if !self.is_delivered && client.io.poll_delivered(cx).is_ready() {
            self.is_delivered = true;
            if self.linger.is_zero() {
                return Poll::Ready(());
            }
            client.timer.set(Instant::now() + self.linger);
        }
        // Poll the timer before reading. Otherwise a client that never stops sending would keep the timer from firing.
        if client.timer.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if self.is_delivered && !self.is_shut {
            self.is_shut = Pin::new(&mut client.io).poll_shutdown(cx).is_ready();
        }
        while !client.has_ended {
            match with_scratch(|area| poll_read(&mut client.io, cx, area)) {
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => client.has_ended = true,
                Poll::Pending => break,
            }
        }
        if client.has_ended && self.is_shut { Poll::Ready(()) } else { Poll::Pending }
    }
}
