//! A WebSocket tunnel, which relays bytes unchanged both ways. An idle tunnel holds no buffer and no timer.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::buffers::{Outbox, poll_read, with_scratch};
use crate::connection::Client;
use crate::frames::{CLOSE_TO_APP, CLOSE_TO_CLIENT, Frames};
use crate::metrics::Metrics;
use crate::places::{Doing, Progress};
use crate::socket::{PeerIo, Socket};

/// Maximum time for both ends to close after a stop is requested.
const CLOSING: Duration = Duration::from_secs(3);
/// Timeout for a silent end after the other end has closed its sending side.
const HALF_CLOSED: Duration = Duration::from_secs(60);
/// Timeout for an end that accepts none of its pending bytes.
const STALL: Duration = Duration::from_secs(300);

/// One direction of the tunnel.
#[derive(Debug, Default)]
struct Flow {
    frames: Frames,
    outbox: Outbox,
    /// The sender has sent its last byte.
    has_ended: bool,
    /// The end of the stream was forwarded to the receiver.
    is_shut: bool,
    /// This proxy or the sender has sent a close frame; further bytes of the sender are dropped.
    is_closed: bool,
    /// The sender has sent a close frame.
    has_said_close: bool,
    has_moved: bool,
}

/// Records that the tunnel is used.
#[derive(Debug, Clone, Copy)]
struct Usage<'t> {
    metrics: &'t Metrics,
    progress: &'t Progress,
}

/// Both directions of the tunnel.
struct Tunnel<'t, IO> {
    io: &'t mut IO,
    app: Socket,
    up: Flow,
    down: Flow,
    usage: Usage<'t>,
    alarm: Alarm,
    is_closing: bool,
    is_waiting: bool,
}

/// Relays between the client and the app until both have ended, or until `stop` is ready and both got a close. The
/// client's outbox holds the upgrade response; `app_inbox` and the client's inbox hold the bytes received after it.
pub(crate) async fn run<IO, S>(
    client: &mut Client<IO>,
    app: Socket,
    app_inbox: &[u8],
    metrics: &Metrics,
    mut stop: Pin<&mut S>,
) where
    IO: PeerIo,
    S: Future<Output = ()>,
{
    let _open = metrics.websocket();
    client.alarm.release();
    client.progress.enter(Doing::Serving, Instant::now());
    let usage = Usage { metrics, progress: &client.progress };
    let mut up = Flow::default();
    up.accept(&std::mem::take(&mut client.inbox), usage);
    let mut down = Flow { outbox: std::mem::take(&mut client.outbox), ..Flow::default() };
    down.accept(app_inbox, usage);
    up.has_ended = client.has_ended;
    let io = &mut client.io;
    let mut tunnel = Tunnel { io, app, up, down, usage, alarm: Alarm::default(), is_closing: false, is_waiting: false };
    poll_fn(|cx| {
        if !tunnel.is_closing && stop.as_mut().poll(cx).is_ready() {
            tunnel.is_closing = true;
            tunnel.alarm.set(Instant::now() + CLOSING);
        }
        tunnel.poll(cx)
    })
    .await;
}

impl<IO: PeerIo> Tunnel<'_, IO> {
    /// Ready when the tunnel has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Poll the timer before reading: an end that never stops sending would starve it.
        if self.is_closing && self.alarm.poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Self { io, app, up, down, usage, is_closing, .. } = self;
        (up.has_moved, down.has_moved) = (false, false);
        let upward = up.poll(*io, app, CLOSE_TO_APP, *is_closing, *usage, cx);
        let downward = down.poll(app, *io, CLOSE_TO_CLIENT, *is_closing, *usage, cx);
        let is_over = match (upward, downward) {
            (Poll::Ready(Err(_)), _) | (_, Poll::Ready(Err(_))) | (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => true,
            // The client got the close, and has closed its side.
            _ => *is_closing && down.is_closed && down.outbox.is_empty() && (up.has_said_close || up.has_ended),
        };
        if is_over {
            return Poll::Ready(());
        }
        self.poll_alarm(cx)
    }

    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_closing {
            let is_stalled = !self.up.outbox.is_empty() || !self.down.outbox.is_empty();
            let is_half_closed = self.up.has_ended || self.down.has_ended;
            if !is_stalled && !is_half_closed {
                if self.is_waiting {
                    self.alarm.release();
                    self.usage.progress.turn(Doing::Serving);
                    self.is_waiting = false;
                }
                return Poll::Pending;
            }
            if !self.is_waiting || self.up.has_moved || self.down.has_moved {
                let now = Instant::now();
                self.alarm.set(now + if is_half_closed { HALF_CLOSED } else { STALL });
                if !self.is_waiting {
                    self.usage.progress.enter(Doing::Transfer, now);
                }
                self.is_waiting = true;
            }
        }
        self.alarm.poll(cx)
    }
}

impl Flow {
    /// Queues bytes that were read before the tunnel began.
    fn accept(&mut self, bytes: &[u8], usage: Usage<'_>) {
        self.outbox.space().extend_from_slice(bytes);
        self.note(bytes, usage);
    }

    fn note(&mut self, bytes: &[u8], usage: Usage<'_>) {
        let seen = self.frames.pass(bytes);
        self.has_said_close |= seen.close;
        usage.progress.moved(bytes.len());
        if seen.data {
            let now = Instant::now();
            usage.metrics.used(now);
            usage.progress.touch(now);
        }
    }

    /// Relays this direction. Ready when the end of the sender's stream has been forwarded.
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
            let waiting = self.outbox.len();
            let flushed = self.outbox.poll_flush(to, cx);
            self.has_moved |= self.outbox.len() < waiting;
            ready!(flushed)?;
            self.outbox.release();
            if self.has_ended {
                if !self.is_shut {
                    ready!(to.poll_delivered(cx));
                    ready!(Pin::new(&mut *to).poll_shutdown(cx))?;
                    self.is_shut = true;
                }
                return Poll::Ready(Ok(()));
            }
            if is_closing && !self.is_closed && self.frames.is_between() {
                if !self.has_said_close {
                    self.outbox.space().extend_from_slice(close);
                }
                self.is_closed = true;
                continue;
            }
            let count = with_scratch(|area| {
                let count = ready!(poll_read(from, cx, area))?;
                let bytes = &area[..count];
                if self.is_closed {
                    self.has_said_close |= self.frames.pass(bytes).close;
                } else if is_closing {
                    let (rest, seen) = self.frames.pass_to_end(bytes);
                    self.has_said_close |= seen.close;
                    self.outbox.send(to, cx, &bytes[..rest])?;
                    self.has_said_close |= self.frames.pass(&bytes[rest..]).close;
                } else {
                    self.note(bytes, usage);
                    self.outbox.send(to, cx, bytes)?;
                }
                Poll::Ready(io::Result::Ok(count))
            });
            self.has_ended = ready!(count)? == 0;
            self.has_moved = true;
        }
    }
}
