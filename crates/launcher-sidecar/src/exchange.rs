//! One request and its response, from the connection to the app until the response is complete.

use std::future::poll_fn;

use launcher_process::stop::Stop;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::body::Transfer;
use crate::buffers::Outbox;
use crate::connection::Client;
use crate::judge::Admitted;
use crate::pages::Reason;
use crate::relay::{Relay, Step};
use crate::sidecar::Inner;

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The response is complete, as of this time; the client may send another request.
    Next(Instant),
    /// The response is complete; the connection ends.
    Close,
    /// Nothing more can be said to the client: the response broke off, or the client is gone.
    Abort,
    /// No response came; this proxy has to give one. `unread` when the request's body has not been read to its end.
    Refused { reason: Reason, unread: bool },
    /// The app took the WebSocket on this connection, and has already sent these bytes.
    Tunnel(TcpStream, Vec<u8>),
}

/// As of `begun`, sends the request whose new head is in `app_outbox` and whose body, or the start of it, is in the client's inbox;
/// relays the response.
pub(crate) async fn run<IO>(
    sidecar: &Inner,
    stop: &Stop,
    admitted: &Admitted,
    client: &mut Client<IO>,
    mut app_outbox: Outbox,
    begun: Instant,
) -> End
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = Transfer::keeping(admitted.framing);
    // What has arrived of the body is read before anything is sent: of a request that is malformed from its start the
    // app sees nothing.
    let mut behind = &client.inbox[..];
    if request.feed(&mut behind, app_outbox.space()).is_err() {
        return End::Refused { reason: Reason::Malformed("the request's body is malformed"), unread: true };
    }
    let taken = client.inbox.len() - behind.len();
    client.inbox.drain(..taken);
    let mut kept = sidecar.pool.take(!admitted.is_repeatable, begun);
    loop {
        let is_reused = kept.is_some();
        let app = match kept.take() {
            Some(app) => app,
            // In a box of its own, so that connections which do not connect do not carry its state.
            None => match Box::pin(sidecar.pool.connect()).await {
                Ok(app) => app,
                Err(error) => {
                    tracing::debug!(%error, "the app does not accept a connection");
                    return End::Refused { reason: Reason::AppAway, unread: !request.is_done() };
                }
            },
        };
        let mut relay = Relay::new(sidecar, stop, admitted, client, app, &mut app_outbox, &mut request);
        let step = poll_fn(|cx| relay.poll(cx)).await;
        match step {
            Step::Silent if is_reused && admitted.is_repeatable => {
                drop(relay);
                app_outbox.rewind();
            }
            Step::Silent => return End::Refused { reason: Reason::AppBroken, unread: !request.is_done() },
            Step::Refused(reason) => return End::Refused { reason, unread: !request.is_done() },
            Step::Abort => return End::Abort,
            Step::Switched => {
                let (app, inbox) = relay.into_app();
                return End::Tunnel(app, inbox);
            }
            Step::Complete { app_stays, close } => {
                let (app, _) = relay.into_app();
                let ended = Instant::now();
                sidecar.metrics.used(ended);
                if app_stays {
                    sidecar.pool.put(app, ended);
                }
                return if close { End::Close } else { End::Next(ended) };
            }
        }
    }
}
