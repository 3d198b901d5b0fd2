//! Relays a WebSocket's bytes unchanged in both directions. An idle WebSocket holds no buffer and no timer.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::client::Client;
use crate::downstream::progress::{ConnectionState, Progress};
use crate::metrics::Metrics;
use crate::transport::buffers::{WriteBuffer, poll_read, with_scratch};
use crate::transport::deadline_timer::DeadlineTimer;
use crate::transport::socket::{PeerIo, Socket};
use crate::websocket::frames::{CLOSE_TO_APP, CLOSE_TO_CLIENT, FrameTracker};

/// Maximum time for client and app to close the WebSocket after a stop is requested.
const CLOSING: Duration = Duration::from_secs(3);
/// Timeout of a WebSocket without traffic after one peer has closed its sending side.
const HALF_CLOSED: Duration = Duration::from_secs(60);
/// Timeout for a peer that accepts none of the bytes that are pending for it.
const STALL: Duration = Duration::from_secs(300);

/// One direction of the WebSocket, from a sender to a receiver.
#[derive(Debug, Default)]
struct Flow {
    frames: FrameTracker,
    write_buffer: WriteBuffer,
    /// True if the sender has closed its sending side.
    has_ended: bool,
    /// True if the end of the sender's stream is forwarded to the receiver.
    is_shut: bool,
    /// True if a stop has closed this direction: the receiver gets a close frame, and further bytes are dropped.
    is_closed: bool,
    /// True if the sender has sent a close frame.
    has_sent_close: bool,
    has_moved: bool,
}

/// The metrics and the progress in which a WebSocket records its use.
#[derive(Debug, Clone, Copy)]
struct Usage<'t> {
    metrics: &'t Metrics,
    progress: &'t Progress,
}

/// State of a WebSocket between the client and the app.
struct Tunnel<'t, IO> {
    io: &'t mut IO,
    app: Socket,
    up: Flow,
    down: Flow,
    usage: Usage<'t>,
    timer: DeadlineTimer,
    is_closing: bool,
    is_waiting: bool,
}

/// Relays bytes between the client and the app until both have closed their sides. When `stop` is ready, sends a close
/// frame to both.
///
/// The client's write buffer holds the upgrade response. `app_read_buffer` and the client's read buffer hold bytes of
/// the WebSocket that have already arrived.
pub(crate) async fn run<IO, S>(
    client: &mut Client<IO>,
    app: Socket,
    app_read_buffer: &[u8],
    metrics: &Metrics,
    mut stop: Pin<&mut S>,
) where
    IO: PeerIo,
    S: Future<Output = ()>,
{
    let _open = metrics.websocket();
    client.timer.release();
    client.progress.enter(ConnectionState::Serving, Instant::now());
    let usage = Usage { metrics, progress: &client.progress };
    let mut up = Flow::default();
    up.accept(&std::mem::take(&mut client.read_buffer), usage);
    let mut down = Flow { write_buffer: std::mem::take(&mut client.write_buffer), ..Flow::default() };
    down.accept(app_read_buffer, usage);
    up.has_ended = client.has_ended;
    let io = &mut client.io;
    let mut tunnel =
        Tunnel { io, app, up, down, usage, timer: DeadlineTimer::default(), is_closing: false, is_waiting: false };
    poll_fn(|cx| {
        if !tunnel.is_closing && stop.as_mut().poll(cx).is_ready() {
            tunnel.is_closing = true;
            tunnel.timer.set(Instant::now() + CLOSING);
        }
        tunnel.poll(cx)
    })
    .await;
}

impl<IO: PeerIo> Tunnel<'_, IO> {
    /// Relays all bytes that can be relayed without waiting. Ready when the WebSocket has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Poll the timer before reading. Otherwise a peer that never stops sending would keep the timer from firing.
        if self.is_closing && self.timer.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Self { io, app, up, down, usage, is_closing, .. } = self;
        (up.has_moved, down.has_moved) = (false, false);
        let upward = up.poll(*io, app, CLOSE_TO_APP, *is_closing, *usage, cx);
        let downward = down.poll(app, *io, CLOSE_TO_CLIENT, *is_closing, *usage, cx);
        let is_over = match (upward, downward) {
            (Poll::Ready(Err(_)), _) | (_, Poll::Ready(Err(_))) | (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => true,
            // After a stop, the WebSocket also ends once the client was sent the close frame, and has sent a close
            // frame or closed its side.
            _ => *is_closing && down.is_closed && down.write_buffer.is_empty() && (up.has_sent_close || up.has_ended),
        };
        if is_over {
            return Poll::Ready(());
        }
        self.poll_timeout(cx)
    }

    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_closing {
            let is_stalled = !self.up.write_buffer.is_empty() || !self.down.write_buffer.is_empty();
            let is_half_closed = self.up.has_ended || self.down.has_ended;
            if !is_stalled && !is_half_closed {
                if self.is_waiting {
                    self.timer.release();
                    self.usage.progress.set_state(ConnectionState::Serving);
                    self.is_waiting = false;
                }
                return Poll::Pending;
            }
            if !self.is_waiting || self.up.has_moved || self.down.has_moved {
                let now = Instant::now();
                self.timer.set(now + if is_half_closed { HALF_CLOSED } else { STALL });
                if !self.is_waiting {
                    self.usage.progress.enter(ConnectionState::Transfer, now);
                }
                self.is_waiting = true;
            }
        }
        self.timer.poll(cx)
    }
}

impl Flow {
    /// Queues bytes that arrived together with the upgrade.
    fn accept(&mut self, bytes: &[u8], usage: Usage<'_>) {
        self.write_buffer.space().extend_from_slice(bytes);
        self.record(bytes, usage);
    }

    fn record(&mut self, bytes: &[u8], usage: Usage<'_>) {
        let seen = self.frames.process(bytes);
        self.has_sent_close |= seen.close;
        usage.progress.add_bytes(bytes.len());
        if seen.data {
            let now = Instant::now();
            usage.metrics.used(now);
            usage.progress.touch(now);
        }
    }

    /// Relays this direction. Ready when the end of the sender's stream is forwarded to the receiver.
    fn poll<R, W>(
        &mut self,
        from: &mut R,
        to: &mut W,
        close: &[u8],
        is_closing: bool,
        usage: Usage<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>>
    where
        R: PeerIo,
        W: PeerIo,
    {
        loop {
            let waiting = self.write_buffer.len();
            let flushed = self.write_buffer.poll_flush(to, cx);
            self.has_moved |= self.write_buffer.len() < waiting;
            ready!(flushed)?;
            self.write_buffer.release();
            if self.has_ended {
                if !self.is_shut {
                    ready!(to.poll_delivered(cx));
                    ready!(Pin::new(&mut *to).poll_shutdown(cx))?;
                    self.is_shut = true;
                }
                return Poll::Ready(Ok(()));
            }
            if is_closing && !self.is_closed && self.frames.is_at_frame_boundary() {
                if !self.has_sent_close {
                    self.write_buffer.space().extend_from_slice(close);
                }
                self.is_closed = true;
                continue;
            }
            let count = with_scratch(|area| {
                let count = ready!(poll_read(from, cx, area))?;
                let bytes = &area[..count];
                if self.is_closed {
                    self.has_sent_close |= self.frames.process(bytes).close;
                } else if is_closing {
                    let (rest, seen) = self.frames.process_to_frame_end(bytes);
                    self.has_sent_close |= seen.close;
                    self.write_buffer.send(to, cx, &bytes[..rest])?;
                    self.has_sent_close |= self.frames.process(&bytes[rest..]).close;
                } else {
                    self.record(bytes, usage);
                    self.write_buffer.send(to, cx, bytes)?;
                }
                Poll::Ready(io::Result::Ok(count))
            });
            self.has_ended = ready!(count)? == 0;
            self.has_moved = true;
        }
    }
}
