//! An exchange: forwards one admitted request to the app, and relays the response to the client.

pub(crate) mod admission;
mod download;
mod relay;
mod response_head;
pub(crate) mod state;
mod upload;

use std::future::poll_fn;

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::auth::authorization::Admitted;
use crate::downstream::Client;
use crate::exchange::download::Download;
use crate::exchange::relay::{Relay, RelayOutcome};
use crate::exchange::state::SharedState;
use crate::exchange::upload::Upload;
use crate::http1::body::BodyTranscoder;
use crate::refusal::{Reason, ResponseError};
use crate::transport::buffers::WriteBuffer;
use crate::transport::{PeerIo, Socket};

/// Outcome of an exchange. It tells the connection how to continue.
#[derive(Debug)]
pub(crate) enum ExchangeOutcome {
    /// The response was complete at this time. The client may send another request.
    KeepAlive(Instant),
    /// The response is complete, and the connection ends. The client may still be sending.
    CloseWithLinger,
    /// The response is complete, and the connection ends. The client has sent all its bytes.
    CloseWithoutLinger,
    /// The response is incomplete, or the client has closed its connection.
    Abort,
    /// The app sent no valid response, so the sidecar must send an error response. `unread` is true if the sidecar has
    /// not read the whole body of the request.
    Refused { reason: Reason, unread: bool },
    /// The app accepted the WebSocket. The fields are the connection to the app, and the bytes already received from
    /// it.
    Tunnel(Socket, Vec<u8>),
}

/// Sends a request to the app and relays its response. `app_write_buffer` holds the request's new head. The client's
/// read buffer holds the part of the request's body that has already arrived. `begun` is the start time of the
/// exchange.
pub(crate) async fn run<IO>(
    state: &SharedState,
    stop: &Stop,
    admitted: &Admitted,
    client: &mut Client<IO>,
    mut app_write_buffer: WriteBuffer,
    begun: Instant,
) -> ExchangeOutcome
where
    IO: PeerIo,
{
    let mut request = BodyTranscoder::with_same_framing(admitted.framing);
    // Parse the received part of the body before sending. If this part is malformed, the app must not receive any byte
    // of the request.
    let mut rest = &client.read_buffer[..];
    if request.feed(&mut rest, app_write_buffer.space()).is_err() {
        return ExchangeOutcome::Refused { reason: Reason::MALFORMED_BODY, unread: true };
    }
    let taken = client.read_buffer.len() - rest.len();
    client.read_buffer.drain(..taken);
    let mut pooled = state.pool.take(!admitted.is_repeatable, begun);
    loop {
        let is_reused = pooled.is_some();
        let app = match pooled.take() {
            Some(app) => app,
            // Box this future, so that exchanges that reuse a connection do not need memory for its state.
            None => match Box::pin(state.pool.connect()).await {
                Ok(app) => app,
                Err(error) => {
                    tracing::debug!(%error, "connecting to the app failed, responding with 503");
                    return ExchangeOutcome::Refused { reason: Reason::AppUnavailable, unread: !request.is_done() };
                }
            },
        };
        let upload = Upload::new(&mut app_write_buffer, &mut request);
        let mut relay = Relay::new(client, app, upload, Download::new(state, stop, admitted));
        let outcome = poll_fn(|cx| relay.poll(cx)).await;
        match outcome {
            RelayOutcome::NoResponse if is_reused && admitted.is_repeatable => {
                drop(relay);
                app_write_buffer.rewind();
            }
            RelayOutcome::NoResponse => {
                return ExchangeOutcome::Refused {
                    reason: Reason::InvalidAppResponse(ResponseError::Incomplete),
                    unread: !request.is_done(),
                };
            }
            RelayOutcome::Refused(reason) => return ExchangeOutcome::Refused { reason, unread: !request.is_done() },
            RelayOutcome::Abort => return ExchangeOutcome::Abort,
            RelayOutcome::Upgraded => {
                let (app, read_buffer) = relay.into_app();
                return ExchangeOutcome::Tunnel(app, read_buffer);
            }
            RelayOutcome::Complete { app_keep_alive, close } => {
                let is_wide = relay.has_wide_app();
                let (app, _) = relay.into_app();
                let ended = Instant::now();
                state.metrics.used(ended);
                if app_keep_alive && !is_wide {
                    state.pool.put(app, ended);
                }
                let is_last = !admitted.form.keep_alive && request.is_done() && client.read_buffer.is_empty();
                return match (close, is_last) {
                    (true, true) => ExchangeOutcome::CloseWithoutLinger,
                    (true, false) => ExchangeOutcome::CloseWithLinger,
                    (false, _) => ExchangeOutcome::KeepAlive(ended),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;

    use launcher_domain::EmailAddress;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::auth::Policy;
    use crate::exchange::admission::admit;
    use crate::frame::Frame;
    use crate::progress::Progress;

    /// Body size, in bytes. It exceeds the kernel's socket buffers, so the sidecar cannot send the whole body while the
    /// app does not read.
    const LARGE: usize = 64 * 1024 * 1024;
    const HEAD: &str = "POST /up HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n";

    async fn app() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        (listener, addr)
    }

    /// Runs the exchange of a request that the client has sent completely. Returns the outcome, and the response that
    /// the client received.
    async fn exchange(state: &SharedState, head: &str, body: Vec<u8>) -> (ExchangeOutcome, Vec<u8>) {
        let mut app_write_buffer = WriteBuffer::default();
        let admitted = admit(&state.rules, head.as_bytes(), None, app_write_buffer.space()).unwrap();
        let (io, mut far) = tokio::io::duplex(1024 * 1024);
        let mut client = Client::new(io, Arc::new(Progress::new()));
        client.read_buffer = body;
        let stop = Stop::new();
        let under_way = run(state, &stop, &admitted, &mut client, app_write_buffer, Instant::now());
        let outcome = tokio::time::timeout(std::time::Duration::from_secs(120), under_way).await.unwrap();
        drop(client);
        let mut answer = Vec::new();
        far.read_to_end(&mut answer).await.unwrap();
        (outcome, answer)
    }

    fn state(addr: SocketAddr) -> SharedState {
        let owner = Some(EmailAddress::parse("alice@example.org").unwrap());
        SharedState::new(Policy { owner, ..Policy::without_owner() }, addr, Frame::default())
    }

    #[tokio::test]
    async fn app_connection_is_not_reused_after_early_response() {
        let (listener, addr) = app().await;
        let state = state(addr);
        let answering = tokio::spawn(async move {
            let (mut first, _) = listener.accept().await.unwrap();
            first.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
            (listener, first)
        });
        let head = format!("{HEAD}Content-Length: {LARGE}\r\n\r\n");
        let (outcome, answer) = exchange(&state, &head, vec![b'A'; LARGE]).await;
        assert!(matches!(outcome, ExchangeOutcome::KeepAlive(_)) && answer.ends_with(b"ok"), "{outcome:?}");
        let (listener, _first) = answering.await.unwrap();
        let next = tokio::spawn(async move {
            let (mut second, _) = listener.accept().await.unwrap();
            let mut head = vec![0; 4096];
            let count = second.read(&mut head).await.unwrap();
            second.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            head.truncate(count);
            head
        });
        let head = HEAD.replacen("POST /up", "GET /next", 1) + "\r\n";
        exchange(&state, &head, Vec::new()).await;
        let seen = next.await.unwrap();
        assert!(seen.starts_with(b"GET /next "), "the next request has a separate connection");
    }

    #[tokio::test]
    async fn request_is_not_retried_after_response_begins() {
        let (listener, addr) = app().await;
        let state = state(addr);
        let requests = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut area = vec![0; 4096];
            assert_ne!(stream.read(&mut area).await.unwrap(), 0);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
            assert_ne!(stream.read(&mut area).await.unwrap(), 0);
            stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").await.unwrap();
            drop(stream);
            listener
        });
        let head = HEAD.replacen("POST", "GET", 1) + "\r\n";
        exchange(&state, &head, Vec::new()).await;
        let (outcome, _) = exchange(&state, &head, Vec::new()).await;
        assert!(
            matches!(
                outcome,
                ExchangeOutcome::Refused { reason: Reason::InvalidAppResponse(ResponseError::Incomplete), .. }
            ),
            "{outcome:?}"
        );
        // The exchange has ended, so its connections are established. This call does not wait.
        let again = requests.await.unwrap().into_std().unwrap().accept();
        assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "the request came a second time");
    }
}
