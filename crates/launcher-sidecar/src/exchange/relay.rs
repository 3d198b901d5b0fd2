//! Relays one request and its response at the same time: an app may respond before it has read the whole request. Timeouts
//! end exchanges without progress.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::Client;
use crate::exchange::download::Download;
use crate::exchange::upload::{Upload, UploadError};
use crate::memory::HEAD;
use crate::progress::ConnectionState;
use crate::refusal::Reason;
use crate::transport::buffers::poll_fill;
use crate::transport::{PeerIo, Socket};

/// Maximum bytes read from the client after its request while the response is pending.
const MAX_AHEAD_BYTES: usize = HEAD;

/// Outcome of the relay of one request over one connection to the app.
#[derive(Debug)]
pub(crate) enum RelayOutcome {
    /// The response is complete. The fields tell whether the app's connection can be reused, and whether the client's
    /// connection ends.
    Complete { app_keep_alive: bool, close: bool },
    /// The app accepted the WebSocket.
    Upgraded,
    /// The app closed its connection before the first byte of a response.
    NoResponse,
    /// The request or the response is invalid, and the client has not received a byte of a final response.
    Refused(Reason),
    /// The response is incomplete, or the client has closed its connection.
    Abort,
}

/// State of one in-flight request and its response.
pub(crate) struct Relay<'r, IO> {
    client: &'r mut Client<IO>,
    app: Socket,
    upload: Upload<'r>,
    download: Download<'r>,
    /// The peer that the exchange waited for at the last poll.
    wait: Wait,
}

impl<'r, IO: PeerIo> Relay<'r, IO> {
    pub(crate) fn new(client: &'r mut Client<IO>, app: Socket, upload: Upload<'r>, download: Download<'r>) -> Self {
        Self { client, app, upload, download, wait: Wait::Response }
    }

    /// Returns the connection to the app, and the bytes received from it that are not yet forwarded.
    pub(crate) fn into_app(self) -> (Socket, Vec<u8>) {
        (self.app, self.download.into_read_buffer())
    }

    /// True if the connection to the app has the larger kernel buffers of a bulk transfer. The pool must not keep such
    /// a connection, because its memory would exceed the pool's bound.
    pub(crate) fn has_wide_app(&self) -> bool {
        self.upload.has_widened_app || self.download.has_widened_app
    }

    /// Relays all bytes that can be relayed without waiting. Ready when the exchange has ended.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        let Self { client, app, upload, download, wait } = self;
        (upload.has_moved, download.has_moved) = (false, false);
        if let Poll::Ready(error) = upload.poll(client, app, download.state, cx) {
            return Poll::Ready(match error {
                UploadError::Malformed if download.awaits_head() => RelayOutcome::Refused(Reason::MALFORMED_BODY),
                UploadError::Malformed | UploadError::Truncated => RelayOutcome::Abort,
            });
        }
        if let Poll::Ready(outcome) = download.poll(client, app, upload, cx) {
            return Poll::Ready(outcome);
        }
        if upload.is_received() && poll_ahead(client, cx).is_ready() {
            return Poll::Ready(RelayOutcome::Abort);
        }
        let has_moved = upload.has_moved || download.has_moved;
        poll_timeout(wait, client, upload, has_moved, cx).map(|()| RelayOutcome::Abort)
    }
}

/// Reads bytes that the client sends after its request, to detect that the client disconnects. Ready only on a
/// connection error.
fn poll_ahead<IO: PeerIo>(client: &mut Client<IO>, cx: &mut Context<'_>) -> Poll<()> {
    while !client.has_ended && client.read_buffer.len() < MAX_AHEAD_BYTES {
        match ready!(poll_fill(&mut client.io, cx, &mut client.read_buffer, MAX_AHEAD_BYTES)) {
            Ok(0) => client.has_ended = true,
            Ok(_) => {}
            Err(_) => return Poll::Ready(()),
        }
    }
    Poll::Pending
}

/// Timeout for a client that neither receives nor sends a byte while the exchange waits for the client.
const CLIENT_STALL: Duration = Duration::from_secs(300);
/// Timeout for a silent app after the client has closed its sending side. Such a client may have disconnected.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Timeout for an app that accepts none of the request's pending bytes. The value exceeds most pauses of an app. The
/// timeout is necessary because pending bytes block reading from the client: a disconnect would never be detected.
const APP_STALL: Duration = Duration::from_secs(900);

/// The peer that an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The app's response. An app may compute for hours, so this wait has no timeout.
    Response,
    Client,
    /// The app's response, after the client has closed its sending side.
    HalfClosedClient,
    /// The app, which accepts none of the request's pending bytes.
    StalledApp,
}

impl Wait {
    fn current<IO>(client: &Client<IO>, upload: &Upload<'_>) -> Self {
        let has_unsent = upload.has_unsent_bytes();
        let is_read = upload.is_received() || upload.has_app_stopped_reading || has_unsent;
        match (!client.write_buffer.is_empty() || !is_read, client.has_ended) {
            (true, _) => Self::Client,
            (false, true) => Self::HalfClosedClient,
            (false, false) if has_unsent => Self::StalledApp,
            (false, false) => Self::Response,
        }
    }

    /// Returns the maximum time without progress. `None` if the exchange waits only for the app's response.
    fn limit(self) -> Option<Duration> {
        match self {
            Self::Response => None,
            Self::Client => Some(CLIENT_STALL),
            Self::HalfClosedClient => Some(HALF_CLOSED),
            Self::StalledApp => Some(APP_STALL),
        }
    }
}

/// Ready when the exchange has made no progress for too long. Never ready while the exchange waits only for the app's
/// response. The timeout restarts when bytes move, and when the exchange begins to wait for another peer.
fn poll_timeout<IO: PeerIo>(
    former: &mut Wait,
    client: &mut Client<IO>,
    upload: &Upload<'_>,
    has_moved: bool,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let wait = Wait::current(client, upload);
    match wait.limit() {
        Some(limit) if has_moved || wait != *former => client.timer.set(Instant::now() + limit),
        Some(_) => {}
        None => client.timer.clear(),
    }
    if wait != *former {
        let state = if wait == Wait::Client { ConnectionState::Transfer } else { ConnectionState::Serving };
        client.progress.set_state(state);
        *former = wait;
    }
    client.timer.poll(cx)
}
