//! One client's connection: a sequence of requests, each authorized separately.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::authorization::{self, Refused};
use crate::buffers::{WriteBuffer, poll_fill, poll_read, with_scratch};
use crate::bulk::TransferCounter;
use crate::deadline_timer::DeadlineTimer;
use crate::error_response::{self, Reason, ResponseFormat};
use crate::exchange::{self, ExchangeOutcome};
use crate::head::{MAX_HEAD_BYTES, MAX_REQUEST_LINES, Scan, Scanner};
use crate::metrics::Outcome;
use crate::sidecar::Inner;
use crate::slots::{ConnectionState, Progress};
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
    pub(crate) read_buffer: Vec<u8>,
    pub(crate) write_buffer: WriteBuffer,
    /// The client has sent its last byte.
    pub(crate) has_ended: bool,
    pub(crate) timer: DeadlineTimer,
    pub(crate) progress: Arc<Progress>,
    /// Bytes moved for the current request (`up`) and for its response (`down`).
    pub(crate) up: TransferCounter,
    pub(crate) down: TransferCounter,
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
        let mut deadline = Instant::now() + HEAD;
        loop {
            let length = match self.next_head(deadline, requested.as_mut()).await {
                Ok(length) => length,
                Err(NoHead::Over) => return self.client.close(Duration::ZERO).await,
                Err(NoHead::Refused(reason)) => {
                    self.sidecar.metrics.count(reason.outcome());
                    self.refuse(Refused::unread(reason)).await;
                    return self.client.close(LINGER).await;
                }
            };
            let mut app_write_buffer = WriteBuffer::default();
            let head = &self.client.read_buffer[..length];
            let authorized = authorization::authorize(&self.sidecar.rules, head, self.peer, app_write_buffer.space());
            self.client.consume(length);
            let outcome = match authorized {
                Ok(admitted) => {
                    let begun = Instant::now();
                    self.sidecar.metrics.used(begun);
                    self.client.begin(begun);
                    let client = &mut self.client;
                    let outcome = exchange::run(self.sidecar, stop, &admitted, client, app_write_buffer, begun).await;
                    self.finish_exchange(outcome, admitted.is_head, admitted.wants_html, admitted.keep_alive).await
                }
                Err(refused) => {
                    self.sidecar.metrics.count(refused.reason.outcome());
                    self.refuse(refused).await
                }
            };
            match outcome {
                ExchangeOutcome::KeepAlive(answered) => {
                    self.client.progress.idle(answered);
                    deadline = answered + IDLE;
                }
                ExchangeOutcome::Tunnel(app, app_read_buffer) => {
                    let tunnel = tunnel::run(&mut self.client, app, &app_read_buffer, &self.sidecar.metrics, requested);
                    tunnel.await;
                    return self.client.close(Duration::ZERO).await;
                }
                ExchangeOutcome::Abort => return,
                ExchangeOutcome::CloseWithoutLinger => return self.client.close(Duration::ZERO).await,
                ExchangeOutcome::CloseWithLinger | ExchangeOutcome::Refused { .. } => {
                    return self.client.close(LINGER).await;
                }
            }
        }
    }

    /// Counts the outcome of an exchange, and sends a response if the app sent none.
    async fn finish_exchange(
        &mut self,
        outcome: ExchangeOutcome,
        is_head: bool,
        wants_html: bool,
        keep_alive: bool,
    ) -> ExchangeOutcome {
        let ExchangeOutcome::Refused { reason, unread } = outcome else {
            self.sidecar.metrics.count(Outcome::Forwarded);
            return outcome;
        };
        self.sidecar.metrics.count(reason.outcome());
        let keep_alive = keep_alive && !unread && reason.is_understood();
        self.refuse(Refused { reason, is_head, wants_html, keep_alive }).await
    }

    async fn refuse(&mut self, refused: Refused) -> ExchangeOutcome {
        let format =
            ResponseFormat { html: refused.wants_html, head_only: refused.is_head, close: !refused.keep_alive };
        error_response::write(refused.reason, format, self.client.write_buffer.space());
        let client = &mut self.client;
        client.timer.set(Instant::now() + HEAD);
        let written = poll_fn(|cx| client.poll_written(cx)).await;
        match (written, refused.keep_alive) {
            (false, _) => ExchangeOutcome::Abort,
            (true, true) => ExchangeOutcome::KeepAlive(Instant::now()),
            (true, false) => ExchangeOutcome::CloseWithLinger,
        }
    }

    /// Waits until `deadline` for a head to begin, and then for all of it. Returns its length at the read buffer's
    /// start.
    async fn next_head<S>(&mut self, deadline: Instant, mut stop: Pin<&mut S>) -> Result<usize, NoHead>
    where
        S: Future<Output = ()>,
    {
        let mut scanner = Scanner::default();
        let (mut has_begun, mut skipped_line) = (false, false);
        let client = &mut self.client;
        client.timer.set(deadline);
        poll_fn(|cx| client.poll_head(&mut scanner, &mut has_begun, &mut skipped_line, stop.as_mut(), cx)).await
    }
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

    /// Starts an exchange.
    fn begin(&mut self, now: Instant) {
        self.progress.enter(ConnectionState::Serving, now);
        self.up.restart();
        self.down.restart();
    }

    fn consume(&mut self, length: usize) {
        if length == self.read_buffer.len() {
            self.read_buffer.clear();
        } else {
            self.read_buffer.drain(..length);
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
            if !*has_begun && !*skipped_line && self.read_buffer.starts_with(b"\r\n") {
                self.read_buffer.drain(..2);
                *skipped_line = true;
            }
            if !self.read_buffer.is_empty() && self.read_buffer != b"\r" {
                match scanner.scan(&self.read_buffer, MAX_REQUEST_LINES) {
                    Scan::Complete(length) => return Poll::Ready(Ok(length)),
                    Scan::TooLarge => return Poll::Ready(Err(NoHead::Refused(Reason::HeadTooLarge))),
                    Scan::Malformed => {
                        let reason = Reason::Malformed("the request's head is malformed");
                        return Poll::Ready(Err(NoHead::Refused(reason)));
                    }
                    Scan::Incomplete if *has_begun => {}
                    Scan::Incomplete => {
                        *has_begun = true;
                        self.timer.set(Instant::now() + HEAD);
                    }
                }
            }
            if self.has_ended {
                return Poll::Ready(Err(NoHead::Over));
            }
            match poll_fill(&mut self.io, cx, &mut self.read_buffer, MAX_HEAD_BYTES) {
                Poll::Ready(Ok(0)) => self.has_ended = true,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(_)) => return Poll::Ready(Err(NoHead::Over)),
                Poll::Pending => break,
            }
        }
        if self.read_buffer.is_empty() {
            self.read_buffer = Vec::new();
            self.write_buffer.release();
            self.up.release(self.io.socket(), Direction::Receive);
            self.down.release(self.io.socket(), Direction::Send);
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(NoHead::Over));
            }
        }
        let over = if *has_begun { NoHead::Refused(Reason::HeadTooSlow) } else { NoHead::Over };
        self.timer.poll(cx).map(|()| Err(over))
    }

    /// Flushes the write buffer. Returns false on an error or at the timeout.
    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        match self.write_buffer.poll_flush(&mut self.io, cx) {
            Poll::Ready(written) => Poll::Ready(written.is_ok()),
            Poll::Pending => self.timer.poll(cx).map(|()| false),
        }
    }

    /// Closes the connection after the client has received the whole last response. From its delivery on, further bytes
    /// are read and discarded until the client closes, for at most `linger`.
    async fn close(&mut self, linger: Duration) {
        self.read_buffer = Vec::new();
        let now = Instant::now();
        self.progress.enter(ConnectionState::Transfer, now);
        self.timer.set(now + DELIVERY);
        let (mut is_delivered, mut is_shut) = (false, false);
        poll_fn(|cx| {
            if !is_delivered && self.io.poll_delivered(cx).is_ready() {
                is_delivered = true;
                if linger.is_zero() {
                    return Poll::Ready(());
                }
                self.timer.set(Instant::now() + linger);
            }
            // Poll the timer before reading: a client that never stops sending would starve it.
            if self.timer.poll(cx).is_ready() {
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
