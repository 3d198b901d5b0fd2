//! Relays the client's request to the app.

use std::task::{Context, Poll, ready};

use tokio::time::Instant;

use crate::downstream::Client;
use crate::exchange::state::SharedState;
use crate::http1::body::BodyTranscoder;
use crate::transport::buffers::{WriteBuffer, poll_read, with_scratch};
use crate::transport::{PeerIo, Socket};

/// State of the request in transit.
#[derive(Debug)]
pub(crate) struct Upload<'r> {
    app_write_buffer: &'r mut WriteBuffer,
    body: &'r mut BodyTranscoder,
    /// True if the app accepts no more bytes of the request. The app may still send a response.
    pub(crate) has_app_stopped_reading: bool,
    /// True if the app's socket has the larger kernel buffers of a bulk transfer.
    pub(crate) has_widened_app: bool,
    /// True if bytes were moved during the current poll of the relay.
    pub(crate) has_moved: bool,
}

/// Error that ends the relay of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UploadError {
    /// The client closed or reset the connection before the end of the body.
    Truncated,
    /// The body's chunks are malformed.
    Malformed,
}

impl<'r> Upload<'r> {
    /// Creates the upload of a request. `app_write_buffer` holds the new head, and `body` decodes the rest of the body.
    pub(crate) fn new(app_write_buffer: &'r mut WriteBuffer, body: &'r mut BodyTranscoder) -> Self {
        Self { app_write_buffer, body, has_app_stopped_reading: false, has_widened_app: false, has_moved: false }
    }

    /// Returns true if the sidecar has read the whole body from the client.
    pub(crate) fn is_received(&self) -> bool {
        self.body.is_done()
    }

    /// Returns true if the sidecar has read the whole body from the client, and the app has not stopped reading.
    pub(crate) fn is_accepted(&self) -> bool {
        self.is_received() && !self.has_app_stopped_reading
    }

    /// Returns true if the whole request is written to the app.
    pub(crate) fn is_sent(&self) -> bool {
        self.is_accepted() && self.app_write_buffer.is_empty()
    }

    /// Returns true while bytes from the client are not yet written to the app.
    pub(crate) fn has_unsent_bytes(&self) -> bool {
        !self.has_app_stopped_reading && !self.app_write_buffer.is_empty()
    }

    /// Relays all bytes that can be relayed without waiting. Ready only on an error that ends the relay.
    pub(crate) fn poll<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        app: &mut Socket,
        state: &SharedState,
        cx: &mut Context<'_>,
    ) -> Poll<UploadError> {
        while !self.has_app_stopped_reading {
            let waiting = self.app_write_buffer.len();
            let flushed = self.app_write_buffer.poll_flush(app, cx);
            self.has_moved |= self.app_write_buffer.len() < waiting;
            if ready!(flushed).is_err() {
                self.has_app_stopped_reading = true;
            }
            if self.is_received() || self.has_app_stopped_reading {
                break;
            }
            match ready!(self.poll_body(client, app, cx)) {
                Ok(count) => {
                    self.has_moved = true;
                    let Client { up, io, progress, .. } = &mut *client;
                    progress.add_bytes(count);
                    self.has_widened_app |= up.count(count, &state.bulk, io.socket(), Some(app));
                    state.metrics.used(Instant::now());
                }
                Err(error) => return Poll::Ready(error),
            }
        }
        Poll::Pending
    }

    /// Reads from the client once, and returns the number of bytes read. Bytes after the body stay in the client's read
    /// buffer.
    fn poll_body<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        app: &mut Socket,
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, UploadError>> {
        with_scratch(|area| {
            let count = ready!(poll_read(&mut client.io, cx, area)).unwrap_or(0);
            if count == 0 {
                return Poll::Ready(Err(UploadError::Truncated));
            }
            let mut input = &area[..count];
            if let Some(plain) = self.body.passthrough_len(count) {
                self.has_app_stopped_reading = self.app_write_buffer.send(app, cx, &input[..plain]).is_err();
                self.body.advance(plain);
                input = &input[plain..];
            } else if self.body.feed(&mut input, self.app_write_buffer.space()).is_err() {
                return Poll::Ready(Err(UploadError::Malformed));
            }
            client.read_buffer.extend_from_slice(input);
            Poll::Ready(Ok(count))
        })
    }
}
