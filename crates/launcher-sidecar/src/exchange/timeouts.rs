//! Timeouts that end exchanges without progress.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use crate::downstream::client::Client;
use crate::downstream::progress::ConnectionState;
use crate::exchange::upload::Upload;
use crate::transport::socket::PeerIo;

/// Timeout for a client that neither receives nor sends a byte while the exchange waits for the client.
const CLIENT_STALL: Duration = Duration::from_secs(300);
/// Timeout for a silent app after the client has closed its sending side. Such a client may have disconnected.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Timeout for an app that accepts none of the request's pending bytes. The value exceeds most pauses of an app. The
/// timeout is necessary because pending bytes block reading from the client: a disconnect would never be detected.
const APP_STALL: Duration = Duration::from_secs(900);

/// The peer that an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The app's response. An app may compute for hours, so this wait has no timeout.
    Response,
    Client,
    /// The app's response, after the client has closed its sending side.
    HalfClosedClient,
    /// The app, which accepts none of the request's pending bytes.
    StalledApp,
}

impl Wait {
    fn current<IO>(client: &Client<IO>, upload: &Upload<'_>) -> Self {
        let has_unsent = upload.has_unsent_bytes();
        let is_read = upload.is_received() || upload.has_app_stopped_reading || has_unsent;
        match (!client.write_buffer.is_empty() || !is_read, client.has_ended) {
            (true, _) => Self::Client,
            (false, true) => Self::HalfClosedClient,
            (false, false) if has_unsent => Self::StalledApp,
            (false, false) => Self::Response,
        }
    }

    /// Returns the maximum time without progress. `None` if the exchange waits only for the app's response.
    fn limit(self) -> Option<Duration> {
        match self {
            Self::Response => None,
            Self::Client => Some(CLIENT_STALL),
            Self::HalfClosedClient => Some(HALF_CLOSED),
            Self::StalledApp => Some(APP_STALL),
        }
    }
}

/// Timeout of one exchange. It restarts when bytes move, and when the exchange begins to wait for another peer.
#[derive(Debug)]
pub(crate) struct StallTimeout {
    wait: Wait,
}

impl Default for StallTimeout {
    fn default() -> Self {
        Self { wait: Wait::Response }
    }
}

impl StallTimeout {
    /// Ready when the exchange has made no progress for too long. Never ready while the exchange waits only for the
    /// app's response.
    pub(crate) fn poll<IO: PeerIo>(
        &mut self,
        client: &mut Client<IO>,
        upload: &Upload<'_>,
        has_moved: bool,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let wait = Wait::current(client, upload);
        match wait.limit() {
            Some(limit) if has_moved || wait != self.wait => client.timer.set(Instant::now() + limit),
            Some(_) => {}
            None => client.timer.clear(),
        }
        if wait != self.wait {
            client.progress.set_state(if wait == Wait::Client {
                ConnectionState::Transfer
            } else {
                ConnectionState::Serving
            });
            self.wait = wait;
        }
        client.timer.poll(cx)
    }
}
