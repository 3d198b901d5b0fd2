//! The event stream of the frame page: sends the status when the stream opens, when the status changes, and as heartbeat. The
//! last event has the name `ended`.
//!
//! A stream is no use of the app. It occupies a connection of the sidecar, and connects to the app at most once at a time, so
//! the limits of all connections include it. Each heartbeat counts as a message of its connection: an app with many
//! connections does not displace the few streams.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::downstream::{Client, HEAD_TIMEOUT};
use crate::frame::Frame;
use crate::frame::status::Status;
use crate::transport::PeerIo;
use crate::transport::buffers::{poll_read, with_scratch};
use crate::transport::upstream::Pool;

/// Interval at which a stream checks if the end of the workshop is decided.
const END_INTERVAL: Duration = Duration::from_millis(250);
/// Interval at which a stream reads the sources of the status.
const READ_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time between two events. Proxies in front close connections after 60 seconds without a byte.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Head of the response. The end of the connection is the end of the stream. `X-Accel-Buffering` makes nginx pass each event
/// on at once.
pub(crate) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\n\
    X-Accel-Buffering: no\r\nConnection: close\r\n\r\n";

/// Sends events until the workshop ends, the sidecar stops, or the client closes the connection. Returns true if the client
/// has the last event.
pub(crate) async fn send<IO: PeerIo>(frame: &Frame, app: &Pool, stop: &Stop, client: &mut Client<IO>) -> bool {
    client.write_buffer.space().extend_from_slice(HEAD);
    let mut stopped = pin!(stop.requested());
    let mut ticks = interval(END_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next_read = Instant::now();
    let mut sent: Option<(Status, Instant)> = None;
    loop {
        let is_last = tokio::select! {
            biased;
            () = stopped.as_mut() => true,
            () = poll_fn(|cx| poll_closed(client, cx)) => return false,
            _ = ticks.tick() => frame.end.is_decided(),
        };
        if !is_last && Instant::now() < next_read {
            continue;
        }
        let (status, now) = (Status::read(frame, app).await, Instant::now());
        next_read = now + READ_INTERVAL;
        let is_due = sent.as_ref().is_none_or(|(former, at)| *former != status || now >= *at + HEARTBEAT);
        if is_due || is_last {
            let name = if is_last { "event: ended\n" } else { "" };
            let event = format!("{name}data: {}\n\n", status.json(frame.clock.now()));
            client.write_buffer.space().extend_from_slice(event.as_bytes());
            client.timer.set(now + HEAD_TIMEOUT);
            if !poll_fn(|cx| client.poll_written(cx)).await {
                return false;
            }
            client.write_buffer.release();
            client.progress.touch(now);
            sent = Some((status, now));
        }
        if is_last {
            return true;
        }
    }
}

/// Ready when the client has closed the connection. Discards bytes that the client sends: the connection has no further
/// request.
fn poll_closed<IO: PeerIo>(client: &mut Client<IO>, cx: &mut Context<'_>) -> Poll<()> {
    while !client.has_ended {
        let read = with_scratch(|area| poll_read(&mut client.io, cx, area));
        client.has_ended = !matches!(ready!(read), Ok(1..));
    }
    Poll::Ready(())
}
