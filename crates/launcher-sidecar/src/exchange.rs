//! One request and its response, from the connection to the app until the response is complete.

use std::future::poll_fn;

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::authorization::Admitted;
use crate::body::BodyTranscoder;
use crate::buffers::WriteBuffer;
use crate::connection::Client;
use crate::error_response::Reason;
use crate::relay::{Relay, RelayOutcome};
use crate::sidecar::Inner;
use crate::socket::{PeerIo, Socket};

/// Outcome of an exchange.
#[derive(Debug)]
pub(crate) enum ExchangeOutcome {
    /// The response was complete at this time; the client may send another request.
    KeepAlive(Instant),
    /// The response is complete; the connection ends.
    CloseWithLinger,
    /// Like `CloseWithLinger`, but the client has announced that it sends nothing more on the connection.
    CloseWithoutLinger,
    /// The exchange was aborted: the response was cut off, or the client is gone.
    Abort,
    /// No response came, so this proxy must send one. `unread` is true while the request's body has unread bytes.
    Refused { reason: Reason, unread: bool },
    /// The app accepted the WebSocket on this connection, and has already sent these bytes.
    Tunnel(Socket, Vec<u8>),
}

/// Sends a request to the app and relays its response. The request's new head is in `app_write_buffer`; its body, or
/// the start of it, is in the client's read buffer. `begun` is the start time.
pub(crate) async fn run<IO>(
    sidecar: &Inner,
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
    // Parse the received part of the body before sending: the app must see no byte of a request that is malformed from
    // its start.
    let mut behind = &client.read_buffer[..];
    if request.feed(&mut behind, app_write_buffer.space()).is_err() {
        return ExchangeOutcome::Refused { reason: Reason::Malformed("the request's body is malformed"), unread: true };
    }
    let taken = client.read_buffer.len() - behind.len();
    client.read_buffer.drain(..taken);
    let mut kept = sidecar.pool.take(!admitted.is_repeatable, begun);
    loop {
        let is_reused = kept.is_some();
        let app = match kept.take() {
            Some(app) => app,
            // Boxed, so that exchanges which reuse a connection do not carry this future's state.
            None => match Box::pin(sidecar.pool.connect()).await {
                Ok(app) => app,
                Err(error) => {
                    tracing::debug!(%error, "connecting to the app failed");
                    return ExchangeOutcome::Refused { reason: Reason::AppUnavailable, unread: !request.is_done() };
                }
            },
        };
        let mut relay = Relay::new(sidecar, stop, admitted, client, app, &mut app_write_buffer, &mut request);
        let outcome = poll_fn(|cx| relay.poll(cx)).await;
        match outcome {
            RelayOutcome::NoResponse if is_reused && admitted.is_repeatable => {
                drop(relay);
                app_write_buffer.rewind();
            }
            RelayOutcome::NoResponse => {
                return ExchangeOutcome::Refused { reason: Reason::InvalidAppResponse, unread: !request.is_done() };
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
                sidecar.metrics.used(ended);
                if app_keep_alive && !is_wide {
                    sidecar.pool.put(app, ended);
                }
                let is_last = !admitted.keep_alive && request.is_done() && client.read_buffer.is_empty();
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
    use crate::authorization::authorize;
    use crate::slots::Progress;
    use crate::socket::Plain;
    use crate::{Policy, Sidecar};

    /// More bytes than the kernel buffers between two local sockets.
    const LARGE: usize = 64 * 1024 * 1024;
    const HEAD: &str = "POST /up HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n";

    async fn app() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        (listener, addr)
    }

    /// Runs the exchange of a request that has arrived completely.
    async fn exchange(sidecar: &Sidecar, head: &str, body: Vec<u8>) -> (ExchangeOutcome, Vec<u8>) {
        let mut app_write_buffer = WriteBuffer::default();
        let inner = sidecar.inner();
        let admitted = authorize(&inner.rules, head.as_bytes(), None, app_write_buffer.space()).unwrap();
        let (io, mut far) = tokio::io::duplex(1024 * 1024);
        let mut client = Client::new(Plain(io), Arc::new(Progress::new()));
        client.read_buffer = body;
        let stop = Stop::new();
        let under_way = run(inner, &stop, &admitted, &mut client, app_write_buffer, Instant::now());
        let outcome = tokio::time::timeout(std::time::Duration::from_secs(10), under_way).await.unwrap();
        drop(client);
        let mut answer = Vec::new();
        far.read_to_end(&mut answer).await.unwrap();
        (outcome, answer)
    }

    fn sidecar(addr: SocketAddr) -> Sidecar {
        Sidecar::new(Policy::new(EmailAddress::parse("alice@example.org").unwrap()), addr)
    }

    #[tokio::test]
    async fn app_connection_is_not_reused_after_early_response() {
        let (listener, addr) = app().await;
        let sidecar = sidecar(addr);
        let answering = tokio::spawn(async move {
            let (mut first, _) = listener.accept().await.unwrap();
            first.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
            (listener, first)
        });
        let head = format!("{HEAD}Content-Length: {LARGE}\r\n\r\n");
        let (outcome, answer) = exchange(&sidecar, &head, vec![b'A'; LARGE]).await;
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
        exchange(&sidecar, &head, Vec::new()).await;
        let seen = next.await.unwrap();
        assert!(seen.starts_with(b"GET /next "), "the next request has a connection of its own");
    }

    #[tokio::test]
    async fn request_is_not_retried_after_response_begins() {
        let (listener, addr) = app().await;
        let sidecar = sidecar(addr);
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
        exchange(&sidecar, &head, Vec::new()).await;
        let (outcome, _) = exchange(&sidecar, &head, Vec::new()).await;
        assert!(matches!(outcome, ExchangeOutcome::Refused { reason: Reason::InvalidAppResponse, .. }), "{outcome:?}");
        let listener = requests.await.unwrap();
        let again = tokio::time::timeout(std::time::Duration::from_millis(200), listener.accept()).await;
        assert!(again.is_err(), "the request came a second time");
    }
}
