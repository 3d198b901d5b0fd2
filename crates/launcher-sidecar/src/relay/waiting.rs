//! How long an exchange waits in which nothing moves.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::{Relay, Step};
use crate::places::Doing;
use crate::socket::PeerIo;

/// How long a client may neither take nor send a byte that is waited for.
const STALL: Duration = Duration::from_secs(300);
/// How long an app may be silent when its client has ended its side of the connection, and so may be gone.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// How long an app may take no byte of what it is sent. Longer than most of what keeps an app from reading, and yet not for
/// ever: behind bytes that wait nobody hears that the client is gone.
const NOT_TAKEN: Duration = Duration::from_secs(900);

/// Whom an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The app, which takes its time.
    Answer,
    Client,
    AnswerForHalfClosed,
    AppThatTakesNothing,
}

impl Wait {
    /// How long nothing may move; no limit when an app that has been sent everything takes its time to answer.
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
    /// Ends an exchange in which nothing moves, unless it is the app that takes its time to answer.
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
