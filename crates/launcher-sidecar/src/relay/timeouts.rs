//! Timeouts of exchanges that make no progress.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::{Relay, RelayOutcome};
use crate::slots::ConnectionState;
use crate::socket::PeerIo;

/// Timeout for a client that neither takes nor sends a byte while the exchange waits for it.
const CLIENT_STALL: Duration = Duration::from_secs(300);
/// Timeout for a silent app after its client has closed its sending side, and so may be gone.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Timeout for an app that accepts none of the request's pending bytes. It exceeds most pauses of an app. It is finite
/// because pending bytes block reading from the client, so a disconnect stays undetected.
const APP_STALL: Duration = Duration::from_secs(900);

/// The peer that an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The app's response, without a timeout.
    Response,
    Client,
    /// The app's response, after the client has closed its sending side.
    HalfClosedClient,
    /// The app, which accepts none of the request's pending bytes.
    StalledApp,
}

impl Wait {
    /// Returns the maximum time without progress. `None` while only the app's response is pending.
    fn limit(self) -> Option<Duration> {
        match self {
            Self::Response => None,
            Self::Client => Some(CLIENT_STALL),
            Self::HalfClosedClient => Some(HALF_CLOSED),
            Self::StalledApp => Some(APP_STALL),
        }
    }
}

impl<IO: PeerIo> Relay<'_, IO> {
    /// Aborts an exchange that makes no progress, unless only the app's response is pending.
    pub(super) fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<RelayOutcome> {
        let wait = self.current_wait();
        match wait.limit() {
            Some(limit) if self.has_moved || wait != self.wait => self.client.timer.set(Instant::now() + limit),
            Some(_) => {}
            None => self.client.timer.clear(),
        }
        if wait != self.wait {
            self.client.progress.set_state(if wait == Wait::Client {
                ConnectionState::Transfer
            } else {
                ConnectionState::Serving
            });
            self.wait = wait;
        }
        self.client.timer.poll(cx).map(|()| RelayOutcome::Abort)
    }

    fn current_wait(&self) -> Wait {
        let is_behind = !self.has_app_stopped_reading && !self.app_write_buffer.is_empty();
        let is_read = self.request.is_done() || self.has_app_stopped_reading || is_behind;
        match (!self.client.write_buffer.is_empty() || !is_read, self.client.has_ended) {
            (true, _) => Wait::Client,
            (false, true) => Wait::HalfClosedClient,
            (false, false) if is_behind => Wait::StalledApp,
            (false, false) => Wait::Response,
        }
    }
}
