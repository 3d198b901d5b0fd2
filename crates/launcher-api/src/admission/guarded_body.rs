//! A body that drops a guard after its last byte has been written to the socket. Dropping the guard at the end of the
//! body would be too early, because the server still queues bytes then.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

/// A body that keeps a guard until the server has written its last byte.
#[derive(Debug)]
pub(super) struct GuardedBody<G> {
    body: Body,
    guard: Arc<G>,
}

/// Bytes of the body, which keep the guard until the server has written them.
struct GuardedBytes<G> {
    bytes: Bytes,
    _guard: Arc<G>,
}

impl<G> GuardedBody<G> {
    pub(super) fn new(body: Body, guard: G) -> Self {
        Self { body, guard: Arc::new(guard) }
    }
}

impl<G> AsRef<[u8]> for GuardedBytes<G> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<G: Send + Sync + 'static> HttpBody for GuardedBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let guarded = |bytes| Bytes::from_owner(GuardedBytes { bytes, _guard: Arc::clone(&self.guard) });
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(guarded))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
