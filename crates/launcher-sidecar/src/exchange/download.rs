//! Relays the app's response to the client.

use std::task::{Context, Poll, ready};

use launcher_process::stop::Stop;

use crate::auth::authorization::Admitted;
use crate::downstream::Client;
use crate::exchange::relay::RelayOutcome;
use crate::exchange::response_head::{Reply, translate};
use crate::exchange::state::SharedState;
use crate::exchange::upload::Upload;
use crate::http1::body::BodyTranscoder;
use crate::http1::head::{MAX_HEAD_BYTES, MAX_RESPONSE_LINES, Scan, Scanner};
use crate::refusal::{Reason, ResponseError};
use crate::transport::buffers::{poll_fill, poll_read, with_scratch};
use crate::transport::{PeerIo, Socket};

/// State of the response in transit.
#[derive(Debug)]
pub(crate) struct Download<'r> {
    pub(crate) state: &'r SharedState,
    stop: &'r Stop,
    admitted: &'r Admitted,
    app_read_buffer: Vec<u8>,
    phase: Phase,
    /// True if the app has sent the first byte of a final or interim response.
    has_begun: bool,
    /// True if the app's socket has the larger kernel buffers of a bulk transfer.
    pub(crate) has_widened_app: bool,
    /// True if bytes were moved during the current poll of the relay.
    pub(crate) has_moved: bool,
}

#[derive(Debug)]
enum Phase {
    Head(Scanner),
    Body { body: BodyTranscoder, app_keep_alive: bool, close: bool },
}

impl<'r> Download<'r> {
    pub(crate) fn new(state: &'r SharedState, stop: &'r Stop, admitted: &'r Admitted) -> Self {
        Self {
            state,
            stop,
            admitted,
            app_read_buffer: Vec::new(),
            phase: Phase::Head(Scanner::default()),
            has_begun: false,
            has_widened_app: false,
            has_moved: false,
        }
    }

    /// Returns the bytes received from the app that are not yet forwarded.
    pub(crate) fn into_read_buffer(self) -> Vec<u8> {
        self.app_read_buffer
    }

    /// Returns true until the final response's head is forwarded to the client.
    pub(crate) fn awaits_head(&self) -> bool {
        matches!(self.phase, Phase::Head(_))
    }

    /// Relays all bytes that can be relayed without waiting. Ready when the exchange has ended.
    pub(crate) fn poll<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        app: &mut Socket,
        upload: &Upload<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<RelayOutcome> {
        loop {
            let waiting = client.write_buffer.len();
            let flushed = client.write_buffer.poll_flush(&mut client.io, cx);
            self.has_moved |= client.write_buffer.len() < waiting;
            if ready!(flushed).is_err() {
                return Poll::Ready(RelayOutcome::Abort);
            }
            let outcome = match &self.phase {
                Phase::Head(_) => ready!(self.poll_head(client, app, upload, cx)),
                &Phase::Body { ref body, app_keep_alive, close } if body.is_done() => {
                    // Reuse the app's connection only if the app received the whole request. Otherwise the app would
                    // read the next request as the rest of this request. Close the client's connection if the client is
                    // still sending.
                    let app_keep_alive = app_keep_alive && upload.is_sent() && self.app_read_buffer.is_empty();
                    Some(RelayOutcome::Complete { app_keep_alive, close: close || !upload.is_accepted() })
                }
                Phase::Body { .. } => ready!(self.poll_body(client, app, cx)),
            };
            if let Some(outcome) = outcome {
                return Poll::Ready(outcome);
            }
        }
    }

    fn poll_head<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        app: &mut Socket,
        upload: &Upload<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<RelayOutcome>> {
        let Phase::Head(scanner) = &mut self.phase else { return Poll::Ready(None) };
        if !self.app_read_buffer.is_empty() {
            match scanner.scan(&self.app_read_buffer, MAX_RESPONSE_LINES) {
                Scan::Complete(length) => return Poll::Ready(self.read_head(length, client, upload)),
                Scan::Incomplete => {}
                Scan::TooLarge => return Poll::Ready(Some(refuse(ResponseError::TooLarge))),
                Scan::BareLineFeed => return Poll::Ready(Some(refuse(ResponseError::BareLineFeed))),
                Scan::Malformed => return Poll::Ready(Some(refuse(ResponseError::StatusLine))),
            }
        }
        match ready!(poll_fill(app, cx, &mut self.app_read_buffer, MAX_HEAD_BYTES)) {
            Ok(1..) => {
                // An HTTP/1.0 client receives no interim responses. For such a client, only the first bytes of the app
                // count as progress.
                self.has_moved |= self.admitted.is_http11 || !self.has_begun;
                self.has_begun = true;
            }
            Ok(0) | Err(_) if !self.has_begun => return Poll::Ready(Some(RelayOutcome::NoResponse)),
            Ok(0) | Err(_) => return Poll::Ready(Some(refuse(ResponseError::Incomplete))),
        }
        Poll::Ready(None)
    }

    /// Parses the response head, the first `length` bytes of the app's read buffer, and the received part of the body
    /// after it.
    fn read_head<IO: PeerIo>(
        &mut self,
        length: usize,
        client: &mut Client<IO>,
        upload: &Upload<'_>,
    ) -> Option<RelayOutcome> {
        let close = self.stop.is_requested() || !upload.is_accepted();
        let out = client.write_buffer.space();
        // Reserve the length of the received bytes, and 512 bytes for the header lines that the sidecar adds.
        out.reserve(self.app_read_buffer.len() + 512);
        let (head, mut rest) = self.app_read_buffer.split_at(length);
        let reply = match translate(&self.state.rules, self.admitted, close, head, out) {
            Ok(reply) => reply,
            Err(error) => return Some(refuse(error)),
        };
        let Reply::Final { mut body, app_keep_alive, close } = reply else {
            self.app_read_buffer.drain(..length);
            self.phase = Phase::Head(Scanner::default());
            return matches!(reply, Reply::Upgraded).then_some(RelayOutcome::Upgraded);
        };
        if body.feed(&mut rest, out).is_err() {
            client.write_buffer.discard();
            return Some(refuse(ResponseError::Chunk));
        }
        self.app_read_buffer = rest.to_vec();
        self.phase = Phase::Body { body, app_keep_alive, close };
        None
    }

    fn poll_body<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        app: &mut Socket,
        cx: &mut Context<'_>,
    ) -> Poll<Option<RelayOutcome>> {
        let Phase::Body { body, .. } = &mut self.phase else { return Poll::Ready(None) };
        let forwarded = with_scratch(|area| {
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
            self.app_read_buffer.extend_from_slice(input);
            Poll::Ready(Some(count))
        });
        let forwarded = ready!(forwarded);
        self.has_moved = true;
        let Some(count) = forwarded else { return Poll::Ready(Some(RelayOutcome::Abort)) };
        let Client { down, io, progress, .. } = client;
        progress.add_bytes(count);
        self.has_widened_app |= down.count(count, &self.state.bulk, Some(app), io.socket());
        Poll::Ready(None)
    }
}

/// Answers with 502, because the app's response breaks this rule.
fn refuse(error: ResponseError) -> RelayOutcome {
    tracing::warn!(%error, "app sent an invalid response, responding with 502");
    RelayOutcome::Refused(Reason::InvalidAppResponse(error))
}
