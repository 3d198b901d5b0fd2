//! Serves one client connection. Authorizes each of its requests separately.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use launcher_process::stop::Stop;
use tokio::time::Instant;

use crate::auth::authorization::Admitted;
use crate::downstream::{Client, HEAD_TIMEOUT, LINGER, NoHead, close, read_head};
use crate::exchange;
use crate::exchange::ExchangeOutcome;
use crate::exchange::admission::admit;
use crate::exchange::state::SharedState;
use crate::frame::events;
use crate::frame::resource::{Resource, write_resource};
use crate::metrics::Outcome;
use crate::progress::Progress;
use crate::refusal::{Reason, Refused, ResponseForm, write_error_response};
use crate::transport::PeerIo;
use crate::transport::buffers::WriteBuffer;
use crate::websocket::run_tunnel;

/// Idle timeout between requests. Proxies in front have shorter idle timeouts (60 to 90 seconds by default), so they
/// close first. Otherwise a proxy could send a request on a connection that the sidecar is closing.
const IDLE: Duration = Duration::from_secs(120);

/// One client connection of a sidecar.
pub(crate) struct Connection<'s, IO> {
    state: &'s SharedState,
    peer: Option<IpAddr>,
    client: Client<IO>,
}

impl<'s, IO: PeerIo> Connection<'s, IO> {
    pub(crate) fn new(state: &'s SharedState, io: IO, peer: Option<IpAddr>, progress: Arc<Progress>) -> Self {
        Self { state, peer, client: Client::new(io, progress) }
    }

    /// Serves requests until the client or the sidecar ends the connection.
    pub(crate) async fn run(mut self, stop: &Stop) {
        let mut requested = pin!(stop.requested());
        let mut deadline = Instant::now() + HEAD_TIMEOUT;
        loop {
            let outcome = match read_head(&mut self.client, deadline, requested.as_mut()).await {
                Ok(length) => self.handle_request(length, stop).await,
                Err(NoHead::Over) => ExchangeOutcome::CloseWithoutLinger,
                Err(NoHead::Refused(reason)) => {
                    self.refuse(Refused::unread(reason)).await;
                    ExchangeOutcome::CloseWithLinger
                }
            };
            let linger = match outcome {
                ExchangeOutcome::KeepAlive(answered) => {
                    self.client.progress.idle(answered);
                    deadline = answered + IDLE;
                    continue;
                }
                ExchangeOutcome::Tunnel(app, app_read_buffer) => {
                    let tunnel = run_tunnel(&mut self.client, app, &app_read_buffer, &self.state.metrics, requested);
                    tunnel.await;
                    Duration::ZERO
                }
                ExchangeOutcome::Abort => return,
                ExchangeOutcome::CloseWithoutLinger => Duration::ZERO,
                ExchangeOutcome::CloseWithLinger | ExchangeOutcome::Refused { .. } => LINGER,
            };
            return close(&mut self.client, linger).await;
        }
    }

    /// Handles the request whose head is the first `length` bytes of the read buffer.
    async fn handle_request(&mut self, length: usize, stop: &Stop) -> ExchangeOutcome {
        let mut app_write_buffer = WriteBuffer::default();
        let head = &self.client.read_buffer[..length];
        let admitted = admit(&self.state.rules, head, self.peer, app_write_buffer.space());
        self.client.consume(length);
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(refused) => return self.refuse(refused).await,
        };
        let begun = Instant::now();
        self.client.begin(begun);
        if let Some(resource) = &admitted.resource {
            return self.serve_resource(resource, admitted.form, stop).await;
        }
        self.state.metrics.used(begun);
        let client = &mut self.client;
        let outcome = exchange::run(self.state, stop, &admitted, client, app_write_buffer, begun).await;
        self.finish_exchange(outcome, &admitted).await
    }

    /// Counts the outcome of an exchange. Sends an error response if the exchange ended without a response for the
    /// client.
    async fn finish_exchange(&mut self, outcome: ExchangeOutcome, admitted: &Admitted) -> ExchangeOutcome {
        let ExchangeOutcome::Refused { reason, unread } = outcome else {
            self.state.metrics.count(Outcome::Forwarded);
            return outcome;
        };
        let keep_alive = admitted.form.keep_alive && !unread && reason.is_understood();
        self.refuse(Refused { reason, form: ResponseForm { keep_alive, ..admitted.form }, label: None }).await
    }

    /// Counts a refused request, and sends its error response.
    async fn refuse(&mut self, refused: Refused) -> ExchangeOutcome {
        self.state.metrics.count(refused.reason.outcome());
        let frame = &self.state.frame;
        let launcher = frame.launcher();
        let page = refused.label.as_ref().and_then(|label| frame.workshop_page.as_ref()?.url_at(label));
        write_error_response(&refused, page.as_deref(), launcher.as_deref(), self.client.write_buffer.space());
        self.send(refused.form.keep_alive).await
    }

    /// Counts and sends a response with a resource of the sidecar itself. The request is no use of the app.
    async fn serve_resource(&mut self, resource: &Resource, form: ResponseForm, stop: &Stop) -> ExchangeOutcome {
        let SharedState { frame, pool, metrics, streams, .. } = self.state;
        if *resource == Resource::Events && !form.is_head {
            let Ok(_permit) = streams.try_acquire() else {
                return self.refuse(Refused { reason: Reason::TooManyStreams, form, label: None }).await;
            };
            metrics.count(Outcome::Served);
            // Box the future, so that other connections do not need memory for its state.
            return match Box::pin(events::send(frame, pool, stop, &mut self.client)).await {
                true => ExchangeOutcome::CloseWithoutLinger,
                false => ExchangeOutcome::Abort,
            };
        }
        metrics.count(Outcome::Served);
        write_resource(frame, pool, resource, form, self.client.write_buffer.space()).await;
        self.send(form.keep_alive).await
    }

    /// Sends the response in the write buffer.
    async fn send(&mut self, keep_alive: bool) -> ExchangeOutcome {
        let client = &mut self.client;
        client.timer.set(Instant::now() + HEAD_TIMEOUT);
        let written = poll_fn(|cx| client.poll_written(cx)).await;
        match (written, keep_alive) {
            (false, _) => ExchangeOutcome::Abort,
            (true, true) => ExchangeOutcome::KeepAlive(Instant::now()),
            (true, false) => ExchangeOutcome::CloseWithLinger,
        }
    }
}
