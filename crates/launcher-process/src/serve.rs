//! Serving HTTP where the outside can connect: with a limit on how long a head may take, how many header lines it may
//! have and how large it may be. `axum::serve` sets none of them.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::stop::Stop;

/// The error of a body that breaks off.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of a response, whatever made it.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// How long a request's head may take, from its first byte or from the connection's start.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How large a request's head may be, in bytes, before more of it is waited for. A head of up to twice this size that
/// arrives in one piece is still read.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How many header lines a request may have.
const MAX_HEADERS: usize = 100;
/// How long to wait when the process has no file descriptor left for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers the connections of a listener until the stop is requested; then lets each finish its request.
///
/// `answer` gets each request with the address of its peer.
pub async fn serve_http<A, F>(listener: TcpListener, stop: Stop, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.requested() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                stop.track(serve_connection(stream, peer, stop.clone(), answer.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_connection<A, F>(stream: TcpStream, peer: SocketAddr, stop: Stop, answer: A)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    // Answers are small and waited for: sending them at once matters more than fewer packets.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
    let service = service_fn(move |request| {
        let response = answer(request, peer);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        outcome = connection.as_mut() => outcome,
        () = stop.requested() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}
