//! Timeouts of exchanges that make no progress.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::{Relay, Step};
use crate::places::Doing;
use crate::socket::PeerIo;

/// Timeout for a client that neither takes nor sends a byte while the exchange waits for it.
const STALL: Duration = Duration::from_secs(300);
/// Timeout for a silent app after its client has closed its sending side, and so may be gone.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// Timeout for an app that accepts none of the request's pending bytes. It exceeds most pauses of an app. It is finite
/// because pending bytes block reading from the client, so a disconnect stays undetected.
const NOT_TAKEN: Duration = Duration::from_secs(900);

/// The peer that an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The app's response, without a timeout.
    Answer,
    Client,
    AnswerForHalfClosed,
    AppThatTakesNothing,
}

impl Wait {
    /// Returns the maximum time without progress. `None` while only the app's response is pending.
    fn limit(self) -> Option<Duration> {
        match self {
            Self::Answer => None,
            Self::Client => Some(STALL),
            Self::AnswerForHalfClosed => Some(HALF_CLOSED),
            Self::AppThatTakesNothing => Some(NOT_TAKEN),
        }
    }
}

impl<IO: PeerIo> Relay<'_, IO> {
    /// Aborts an exchange that makes no progress, unless only the app's response is pending.
    pub(super) fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let wait = self.waits_for();
        match wait.limit() {
            Some(limit) if self.has_moved || wait != self.wait => self.client.alarm.set(Instant::now() + limit),
            Some(_) => {}
            None => self.client.alarm.clear(),
        }
        if wait != self.wait {
            self.client.progress.turn(if wait == Wait::Client { Doing::Transfer } else { Doing::Serving });
            self.wait = wait;
        }
        self.client.alarm.poll(cx).map(|()| Step::Abort)
    }

    fn waits_for(&self) -> Wait {
        let is_behind = !self.is_refused && !self.app_outbox.is_empty();
        let is_read = self.request.is_done() || self.is_refused || is_behind;
        match (!self.client.outbox.is_empty() || !is_read, self.client.has_ended) {
            (true, _) => Wait::Client,
            (false, true) => Wait::AnswerForHalfClosed,
            (false, false) if is_behind => Wait::AppThatTakesNothing,
            (false, false) => Wait::Answer,
        }
    }
}
