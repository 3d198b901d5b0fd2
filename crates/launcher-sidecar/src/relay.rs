//! Relays one request and its response concurrently.

mod timeouts;

use std::task::{Context, Poll, ready};

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::authorization::Admitted;
use crate::body::BodyTranscoder;
use crate::buffers::{WriteBuffer, poll_fill, poll_read, with_scratch};
use crate::connection::Client;
use crate::error_response::Reason;
use crate::head::{MAX_HEAD_BYTES, MAX_RESPONSE_LINES, Scan, Scanner};
use crate::memory::HEAD;
use crate::response::{self, Reply};
use crate::sidecar::Inner;
use crate::socket::{PeerIo, Socket};
use timeouts::Wait;

/// Maximum bytes read ahead after a request while its response is pending.
const MAX_AHEAD_BYTES: usize = HEAD;

/// Result of a relay.
#[derive(Debug)]
pub(crate) enum RelayOutcome {
    /// The response is complete.
    Complete { app_keep_alive: bool, close: bool },
    /// The app has accepted the WebSocket.
    Upgraded,
    /// The app closed its connection before the first byte of a response.
    NoResponse,
    /// No final response can be forwarded, and no byte of one has been.
    Refused(Reason),
    /// The response was cut off, or the client is gone.
    Abort,
}

#[derive(Debug)]
enum Phase {
    Head(Scanner),
    Body { body: BodyTranscoder, app_keep_alive: bool, close: bool },
}

/// One in-flight request and its response.
pub(crate) struct Relay<'r, IO> {
    sidecar: &'r Inner,
    stop: &'r Stop,
    admitted: &'r Admitted,
    client: &'r mut Client<IO>,
    app: Socket,
    /// The app's socket has buffers of a bulk transfer, so it must not be kept.
    is_app_wide: bool,
    app_read_buffer: Vec<u8>,
    app_write_buffer: &'r mut WriteBuffer,
    request: &'r mut BodyTranscoder,
    /// The app accepts no more bytes of the request. It may still send a response.
    has_app_stopped_reading: bool,
    /// The app has started to respond, if only with an interim response.
    has_begun: bool,
    phase: Phase,
    wait: Wait,
    has_moved: bool,
}

impl<'r, IO: PeerIo> Relay<'r, IO> {
    pub(crate) fn new(
        sidecar: &'r Inner,
        stop: &'r Stop,
        admitted: &'r Admitted,
        client: &'r mut Client<IO>,
        app: Socket,
        app_write_buffer: &'r mut WriteBuffer,
        request: &'r mut BodyTranscoder,
    ) -> Self {
        Self {
            sidecar,
            stop,
            admitted,
            client,
            app,
            is_app_wide: false,
            app_read_buffer: Vec::new(),
            app_write_buffer,
            request,
            has_app_stopped_reading: false,
            has_begun: false,
            phase: Phase::Head(Scanner::default()),
            wait: Wait::Response,
            has_moved: false,
        }
    }

    /// Returns the connection to the app, and the bytes received from it that are not yet forwarded.
    pub(crate) fn into_app(self) -> (Socket, Vec<u8>) {
        (self.app, self.app_read_buffer)
    }

    /// True when the connection to the app has buffers of a bulk transfer, so it must not be kept.
    pub(crate) fn has_wide_app(&self) -> bool {
        self.is_app_wide
    }

    /// Relays all bytes that can be moved.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        self.has_moved = false;
        if let Poll::Ready(outcome) = self.poll_request(cx) {
            return Poll::Ready(outcome);
        }
        if let Poll::Ready(outcome) = self.poll_response(cx) {
            return Poll::Ready(outcome);
        }
        if let Poll::Ready(outcome) = self.poll_ahead(cx) {
            return Poll::Ready(outcome);
        }
        self.poll_timeout(cx)
    }

    /// Relays from the client to the app. Ready only when that ends the exchange.
    fn poll_request(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        while !self.has_app_stopped_reading {
            let waiting = self.app_write_buffer.len();
            let flushed = self.app_write_buffer.poll_flush(&mut self.app, cx);
            self.has_moved |= self.app_write_buffer.len() < waiting;
            if ready!(flushed).is_err() {
                self.has_app_stopped_reading = true;
            }
            if self.request.is_done() || self.has_app_stopped_reading {
                break;
            }
            let Self { client, app, app_write_buffer, request, has_app_stopped_reading, .. } = self;
            let fed = with_scratch(|area| {
                let count = ready!(poll_read(&mut client.io, cx, area)).unwrap_or(0);
                if count == 0 {
                    return Poll::Ready(Err(RelayOutcome::Abort));
                }
                let mut input = &area[..count];
                if let Some(plain) = request.passthrough_len(count) {
                    *has_app_stopped_reading = app_write_buffer.send(app, cx, &input[..plain]).is_err();
                    request.advance(plain);
                    input = &input[plain..];
                } else if request.feed(&mut input, app_write_buffer.space()).is_err() {
                    return Poll::Ready(Err(RelayOutcome::Refused(Reason::Malformed(
                        "the request's body is malformed",
                    ))));
                }
                client.read_buffer.extend_from_slice(input);
                Poll::Ready(Ok(count))
            });
            match ready!(fed) {
                Ok(count) => {
                    self.has_moved = true;
                    let Client { up, io, progress, .. } = &mut *self.client;
                    progress.add_bytes(count);
                    self.is_app_wide |= up.count(count, &self.sidecar.bulk, io.socket(), Some(&self.app));
                    self.sidecar.metrics.used(Instant::now());
                }
                Err(RelayOutcome::Refused(reason)) if matches!(self.phase, Phase::Head(_)) => {
                    return Poll::Ready(RelayOutcome::Refused(reason));
                }
                Err(_) => return Poll::Ready(RelayOutcome::Abort),
            }
        }
        Poll::Pending
    }

    /// Relays from the app to the client.
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        loop {
            let waiting = self.client.write_buffer.len();
            let flushed = self.client.write_buffer.poll_flush(&mut self.client.io, cx);
            self.has_moved |= self.client.write_buffer.len() < waiting;
            if ready!(flushed).is_err() {
                return Poll::Ready(RelayOutcome::Abort);
            }
            let outcome = match &self.phase {
                Phase::Head(_) => ready!(self.poll_head(cx)),
                &Phase::Body { ref body, app_keep_alive, close } if body.is_done() => {
                    // Close a client's connection while it is still sending. Keep the app's connection only if it got
                    // the whole request: the app would otherwise read the next request as the rest of this one.
                    let is_taken = self.request.is_done() && !self.has_app_stopped_reading;
                    let is_sent = is_taken && self.app_write_buffer.is_empty();
                    let app_keep_alive = app_keep_alive && is_sent && self.app_read_buffer.is_empty();
                    Some(RelayOutcome::Complete { app_keep_alive, close: close || !is_taken })
                }
                Phase::Body { .. } => ready!(self.poll_body(cx)),
            };
            if let Some(outcome) = outcome {
                return Poll::Ready(outcome);
            }
        }
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Option<RelayOutcome>> {
        let Phase::Head(scanner) = &mut self.phase else { return Poll::Ready(None) };
        if !self.app_read_buffer.is_empty() {
            match scanner.scan(&self.app_read_buffer, MAX_RESPONSE_LINES) {
                Scan::Complete(length) => return Poll::Ready(self.read_head(length)),
                Scan::Incomplete => {}
                Scan::TooLarge | Scan::Malformed => {
                    tracing::warn!("invalid response from the app: its head is not HTTP/1, or is too large");
                    return Poll::Ready(Some(RelayOutcome::Refused(Reason::InvalidAppResponse)));
                }
            }
        }
        match ready!(poll_fill(&mut self.app, cx, &mut self.app_read_buffer, MAX_HEAD_BYTES)) {
            Ok(1..) => {
                // HTTP/1.0 clients get no interim responses, so only the first bytes count as progress.
                self.has_moved |= self.admitted.is_http11 || !self.has_begun;
                self.has_begun = true;
            }
            Ok(0) | Err(_) if !self.has_begun => return Poll::Ready(Some(RelayOutcome::NoResponse)),
            Ok(0) | Err(_) => return Poll::Ready(Some(RelayOutcome::Refused(Reason::InvalidAppResponse))),
        }
        Poll::Ready(None)
    }

    /// Parses the response's head at the start of the app's read buffer, and the part of the body that came with it.
    fn read_head(&mut self, length: usize) -> Option<RelayOutcome> {
        let close = self.stop.is_requested() || self.has_app_stopped_reading || !self.request.is_done();
        let out = self.client.write_buffer.space();
        // The output is about as long as the input: a head loses lines and gains few.
        out.reserve(self.app_read_buffer.len() + 512);
        let (head, mut rest) = self.app_read_buffer.split_at(length);
        let reply = match response::translate(&self.sidecar.rules, self.admitted, close, head, out) {
            Ok(reply) => reply,
            Err(error) => {
                tracing::warn!(%error, "invalid response from the app");
                return Some(RelayOutcome::Refused(Reason::InvalidAppResponse));
            }
        };
        let Reply::Final { mut body, app_keep_alive, close } = reply else {
            self.app_read_buffer.drain(..length);
            self.phase = Phase::Head(Scanner::default());
            return matches!(reply, Reply::Upgraded).then_some(RelayOutcome::Upgraded);
        };
        if let Err(error) = body.feed(&mut rest, out) {
            tracing::warn!(%error, "invalid response from the app");
            self.client.write_buffer.discard();
            return Some(RelayOutcome::Refused(Reason::InvalidAppResponse));
        }
        self.app_read_buffer = rest.to_vec();
        self.phase = Phase::Body { body, app_keep_alive, close };
        None
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Option<RelayOutcome>> {
        let Self { client, app, app_read_buffer, phase, .. } = self;
        let Phase::Body { body, .. } = phase else { return Poll::Ready(None) };
        let passed_on = with_scratch(|area| {
            let Ok(count) = ready!(poll_read(app, cx, area)) else { return Poll::Ready(None) };
            if count == 0 {
                return Poll::Ready(body.handle_eof(client.write_buffer.space()).then_some(0));
            }
            let mut input = &area[..count];
            if let Some(plain) = body.passthrough_len(count) {
                let sent = client.write_buffer.send(&mut client.io, cx, &input[..plain]);
                body.advance(plain);
                input = &input[plain..];
                if sent.is_err() {
                    return Poll::Ready(None);
                }
            } else if body.feed(&mut input, client.write_buffer.space()).is_err() {
                return Poll::Ready(None);
            }
            app_read_buffer.extend_from_slice(input);
            Poll::Ready(Some(count))
        });
        let passed_on = ready!(passed_on);
        self.has_moved = true;
        let Some(count) = passed_on else { return Poll::Ready(Some(RelayOutcome::Abort)) };
        let Client { down, io, progress, .. } = &mut *self.client;
        progress.add_bytes(count);
        self.is_app_wide |= down.count(count, &self.sidecar.bulk, Some(&self.app), io.socket());
        Poll::Ready(None)
    }

    /// Reads ahead after the request, mainly to detect that the client disconnects. Ready only on a connection error.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        while self.request.is_done() && !self.client.has_ended && self.client.read_buffer.len() < MAX_AHEAD_BYTES {
            match ready!(poll_fill(&mut self.client.io, cx, &mut self.client.read_buffer, MAX_AHEAD_BYTES)) {
                Ok(0) => self.client.has_ended = true,
                Ok(_) => {}
                Err(_) => return Poll::Ready(RelayOutcome::Abort),
            }
        }
        Poll::Pending
    }
}
