//! Reading what a refused request still sends.
//!
//! A connection that is closed while its client is sending is reset, and the client never reads why it was refused.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;

/// How much is read and dropped at most. Whoever sends more than this is not owed an answer.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How long that may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A request's body that outlives the handler it is given to.
#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<Body>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.lock()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}

/// Answers a refused request only after its body has been read, within bounds.
pub(crate) async fn refused_bodies(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let mut shared = Shared(Arc::new(Mutex::new(body)));
    let response = next.run(Request::from_parts(parts, Body::new(shared.clone()))).await;
    if response.status().is_client_error() || response.status().is_server_error() {
        // Whatever comes of it, the answer goes out.
        let _ = tokio::time::timeout(TIMEOUT, drop_rest(&mut shared)).await;
    }
    response
}

async fn drop_rest(body: &mut Shared) {
    let mut dropped = 0;
    while let Some(Ok(frame)) = body.frame().await {
        dropped += frame.data_ref().map_or(0, Bytes::len);
        if dropped > MAX_BYTES {
            return;
        }
    }
}
