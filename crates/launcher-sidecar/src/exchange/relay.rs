//! Relays one request and its response at the same time: an app may respond before it has read the whole request.

use std::task::{Context, Poll, ready};

use crate::downstream::client::Client;
use crate::exchange::download::Download;
use crate::exchange::outcome::RelayOutcome;
use crate::exchange::timeouts::StallTimeout;
use crate::exchange::upload::{Upload, UploadError};
use crate::memory::HEAD;
use crate::refusal::Reason;
use crate::transport::buffers::poll_fill;
use crate::transport::socket::{PeerIo, Socket};

/// Maximum bytes read from the client after its request while the response is pending.
const MAX_AHEAD_BYTES: usize = HEAD;

/// State of one in-flight request and its response.
pub(crate) struct Relay<'r, IO> {
    client: &'r mut Client<IO>,
    app: Socket,
    upload: Upload<'r>,
    download: Download<'r>,
    timeout: StallTimeout,
}

impl<'r, IO: PeerIo> Relay<'r, IO> {
    pub(crate) fn new(client: &'r mut Client<IO>, app: Socket, upload: Upload<'r>, download: Download<'r>) -> Self {
        Self { client, app, upload, download, timeout: StallTimeout::default() }
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
        let Self { client, app, upload, download, timeout } = self;
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
        timeout.poll(client, upload, has_moved, cx).map(|()| RelayOutcome::Abort)
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
