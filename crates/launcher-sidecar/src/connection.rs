//! One client's connection: a sequence of requests, each authorized separately.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::buffers::{Outbox, poll_fill, poll_read, with_scratch};
use crate::bulk::Transferred;
use crate::exchange::{self, End};
use crate::head::{MAX_HEAD_BYTES, MAX_REQUEST_LINES, Scan, Scanner};
use crate::judge::{self, Refused};
use crate::metrics::Outcome;
use crate::pages::{self, Form, Reason};
use crate::places::{Doing, Progress};
use crate::sidecar::Inner;
use crate::socket::{Direction, PeerIo};
use crate::tunnel;

/// Maximum time for a head, from its first byte, or from the connection's start.
const HEAD: Duration = Duration::from_secs(30);
/// Idle timeout between requests. It exceeds the idle timeouts of the proxies in front (60 to 90 seconds by default),
/// so that no request arrives on a connection that is being closed.
const IDLE: Duration = Duration::from_secs(120);
/// Maximum time to keep reading after the last response, so that a client which is still sending receives it: closing a
/// connection with unread bytes resets it, which discards the response.
const LINGER: Duration = Duration::from_secs(2);

/// Maximum time to deliver the last response.
const DELIVERY: Duration = Duration::from_secs(60);

/// The client's side of a connection.
#[derive(Debug)]
pub(crate) struct Client<IO> {
    pub(crate) io: IO,
    /// Bytes read from the client that do not belong to a request yet.
    pub(crate) inbox: Vec<u8>,
    pub(crate) outbox: Outbox,
    /// The client has sent its last byte.
    pub(crate) has_ended: bool,
    pub(crate) alarm: Alarm,
    pub(crate) progress: Arc<Progress>,
    /// Bytes moved for the current request (`up`) and for its response (`down`).
    pub(crate) up: Transferred,
    pub(crate) down: Transferred,
}

/// One client connection of a sidecar.
pub(crate) struct Connection<'s, IO> {
    sidecar: &'s Inner,
    peer: Option<IpAddr>,
    client: Client<IO>,
}

/// Reason why no further head was read.
enum NoHead {
    /// The client ended the connection, the idle timeout passed, or a stop was requested.
    Over,
    Refused(Reason),
}

impl<'s, IO: PeerIo> Connection<'s, IO> {
    pub(crate) fn new(sidecar: &'s Inner, io: IO, peer: Option<IpAddr>, progress: Arc<Progress>) -> Self {
        Self { sidecar, peer, client: Client::new(io, progress) }
    }

    /// Serves requests until either side ends the connection.
    pub(crate) async fn run(mut self, stop: &Stop) {
        let mut requested = pin!(stop.requested());
        let mut due = Instant::now() + HEAD;
        loop {
            let length = match self.next_head(due, requested.as_mut()).await {
                Ok(length) => length,
                Err(NoHead::Over) => return self.client.close(Duration::ZERO).await,
                Err(NoHead::Refused(reason)) => {
                    self.sidecar.metrics.count(reason.outcome());
                    self.refuse(Refused::unread(reason)).await;
                    return self.client.close(LINGER).await;
                }
            };
            let mut app_outbox = Outbox::default();
            let head = &self.client.inbox[..length];
            let verdict = judge::judge(&self.sidecar.rules, head, self.peer, app_outbox.space());
            self.client.take(length);
            let end = match verdict {
                Ok(admitted) => {
                    let begun = Instant::now();
                    self.sidecar.metrics.used(begun);
                    self.client.begin(begun);
                    let client = &mut self.client;
                    let end = exchange::run(self.sidecar, stop, &admitted, client, app_outbox, begun).await;
                    self.settle(end, admitted.is_head, admitted.wants_html, admitted.keep_alive).await
                }
                Err(refused) => {
                    self.sidecar.metrics.count(refused.reason.outcome());
                    self.refuse(refused).await
                }
            };
            match end {
                End::Next(answered) => {
                    self.client.progress.idle(answered);
                    due = answered + IDLE;
                }
                End::Tunnel(app, app_inbox) => {
                    let tunnel = tunnel::run(&mut self.client, app, &app_inbox, &self.sidecar.metrics, requested);
                    tunnel.await;
                    return self.client.close(Duration::ZERO).await;
                }
                End::Abort => return,
                End::Last => return self.client.close(Duration::ZERO).await,
                End::Close | End::Refused { .. } => return self.client.close(LINGER).await,
            }
        }
    }

    /// Counts the outcome of an exchange, and sends a response if the app sent none.
    async fn settle(&mut self, end: End, is_head: bool, wants_html: bool, keep_alive: bool) -> End {
        let End::Refused { reason, unread } = end else {
            self.sidecar.metrics.count(Outcome::Forwarded);
            return end;
        };
        self.sidecar.metrics.count(reason.outcome());
        let keep_alive = keep_alive && !unread && reason.is_understood();
        self.refuse(Refused { reason, is_head, wants_html, keep_alive }).await
    }

    async fn refuse(&mut self, refused: Refused) -> End {
        let form = Form { html: refused.wants_html, head_only: refused.is_head, close: !refused.keep_alive };
        pages::write(refused.reason, form, self.client.outbox.space());
        let client = &mut self.client;
        client.alarm.set(Instant::now() + HEAD);
        let written = poll_fn(|cx| client.poll_written(cx)).await;
        match (written, refused.keep_alive) {
            (false, _) => End::Abort,
            (true, true) => End::Next(Instant::now()),
            (true, false) => End::Close,
        }
    }

    /// Waits until `due` for a head to begin, and then for all of it. Returns its length at the inbox's start.
    async fn next_head<S>(&mut self, due: Instant, mut stop: Pin<&mut S>) -> Result<usize, NoHead>
    where
        S: Future<Output = ()>,
    {
        let mut scanner = Scanner::default();
        let (mut has_begun, mut skipped_line) = (false, false);
        let client = &mut self.client;
        client.alarm.set(due);
        poll_fn(|cx| client.poll_head(&mut scanner, &mut has_begun, &mut skipped_line, stop.as_mut(), cx)).await
    }
}

impl<IO: PeerIo> Client<IO> {
    pub(crate) fn new(io: IO, progress: Arc<Progress>) -> Self {
        Self {
            io,
            inbox: Vec::new(),
            outbox: Outbox::default(),
            has_ended: false,
            alarm: Alarm::default(),
            progress,
            up: Transferred::default(),
            down: Transferred::default(),
        }
    }

    /// Starts an exchange.
    fn begin(&mut self, now: Instant) {
        self.progress.enter(Doing::Serving, now);
        self.up.restart();
        self.down.restart();
    }

    fn take(&mut self, length: usize) {
        if length == self.inbox.len() {
            self.inbox.clear();
        } else {
            self.inbox.drain(..length);
        }
    }

    fn poll_head<S>(
        &mut self,
        scanner: &mut Scanner,
        has_begun: &mut bool,
        skipped_line: &mut bool,
        mut stop: Pin<&mut S>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, NoHead>>
    where
        S: Future<Output = ()>,
    {
        loop {
            // Some clients send an empty line after a body (RFC 9112, 2.2). At most one is skipped.
            if !*has_begun && !*skipped_line && self.inbox.starts_with(b"\r\n") {
                self.inbox.drain(..2);
                *skipped_line = true;
            }
            if !self.inbox.is_empty() && self.inbox != b"\r" {
                match scanner.scan(&self.inbox, MAX_REQUEST_LINES) {
                    Scan::Complete(length) => return Poll::Ready(Ok(length)),
                    Scan::TooLarge => return Poll::Ready(Err(NoHead::Refused(Reason::HeadTooLarge))),
                    Scan::Malformed => {
                        let reason = Reason::Malformed("the request's head is malformed");
                        return Poll::Ready(Err(NoHead::Refused(reason)));
                    }
                    Scan::Incomplete if *has_begun => {}
                    Scan::Incomplete => {
                        *has_begun = true;
                        self.alarm.set(Instant::now() + HEAD);
                    }
                }
            }
            if self.has_ended {
                return Poll::Ready(Err(NoHead::Over));
            }
            match poll_fill(&mut self.io, cx, &mut self.inbox, MAX_HEAD_BYTES) {
                Poll::Ready(Ok(0)) => self.has_ended = true,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Err(NoHead::Over)),
                Poll::Pending => break,
            }
        }
        if self.inbox.is_empty() {
            self.inbox = Vec::new();
            self.outbox.release();
            self.up.release(self.io.socket(), Direction::Receive);
            self.down.release(self.io.socket(), Direction::Send);
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(NoHead::Over));
            }
        }
        let over = if *has_begun { NoHead::Refused(Reason::HeadTooSlow) } else { NoHead::Over };
        self.alarm.poll(cx).map(|()| Err(over))
    }

    /// Flushes the outbox. Returns false on an error or at the timeout.
    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        match self.outbox.poll_flush(&mut self.io, cx) {
            Poll::Ready(written) => Poll::Ready(written.is_ok()),
            Poll::Pending => self.alarm.poll(cx).map(|()| false),
        }
    }

    /// Closes the connection after the client has received the whole last response. From its delivery on, further bytes
    /// are read and discarded until the client closes, for at most `linger`.
    async fn close(&mut self, linger: Duration) {
        self.inbox = Vec::new();
        let now = Instant::now();
        self.progress.enter(Doing::Transfer, now);
        self.alarm.set(now + DELIVERY);
        let (mut is_delivered, mut is_shut) = (false, false);
        poll_fn(|cx| {
            if !is_delivered && self.io.poll_delivered(cx).is_ready() {
                is_delivered = true;
                if linger.is_zero() {
                    return Poll::Ready(());
                }
                self.alarm.set(Instant::now() + linger);
            }
            // Poll the timer before reading: a client that never stops sending would starve it.
            if self.alarm.poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if is_delivered && !is_shut {
                is_shut = Pin::new(&mut self.io).poll_shutdown(cx).is_ready();
            }
            while !self.has_ended {
                match with_scratch(|area| poll_read(&mut self.io, cx, area)) {
                    Poll::Ready(Ok(1..)) => {}
                    Poll::Ready(_) => self.has_ended = true,
                    Poll::Pending => break,
                }
            }
            if self.has_ended && is_shut { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
