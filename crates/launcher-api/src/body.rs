//! Request bodies: their timeout, and the draining of unread bodies.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::EXPECT;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use launcher_domain::sync::lock;
use tokio::time::Sleep;

/// Timeout for a request body. On a working connection, a body within the size limits arrives sooner.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum bytes of a refused request's body that are read and discarded. A client that sends more may lose the
/// response.
const MAX_DRAINED: usize = 8 * 1024 * 1024;
/// Maximum time for which the unread body of a refused request is drained.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A request body that fails when its timeout passes: that of the whole body, while the layer of `tower-http` limits each
/// pause. It outlives the handler, so that the middleware can drain it.
#[derive(Debug, Clone)]
struct Bounded(Arc<Mutex<Timed>>);

#[derive(Debug)]
struct Timed {
    body: Body,
    deadline: Pin<Box<Sleep>>,
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut timed = lock(&self.0);
        if timed.deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)))));
        }
        Pin::new(&mut timed.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.0).body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        lock(&self.0).body.size_hint()
    }
}

/// Applies the timeout to a request's body. If the handler refuses the request, drains the body while the response is
/// sent: closing the connection while the client still sends would reset it, and the client would never read the
/// response.
pub(crate) async fn bounded(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // A client that waits for `100 Continue` sends no body after a refusal, so there is nothing to drain.
    let waits = request.headers().contains_key(EXPECT);
    let (parts, body) = request.into_parts();
    let timed = Timed { body, deadline: Box::pin(tokio::time::sleep(TIMEOUT)) };
    let body = Bounded(Arc::new(Mutex::new(timed)));
    let response = next.run(Request::from_parts(parts, Body::new(body.clone()))).await;
    let refused = response.status().is_client_error() || response.status().is_server_error();
    if refused && !waits && !body.is_end_stream() {
        tokio::spawn(tokio::time::timeout(DRAIN_TIMEOUT, drain(body)));
    }
    response
}

async fn drain(mut body: Bounded) {
    let mut dropped = 0;
    while let Some(Ok(frame)) = body.frame().await {
        dropped += frame.data_ref().map_or(0, Bytes::len);
        if dropped > MAX_DRAINED {
            return;
        }
    }
}
