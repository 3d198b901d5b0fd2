//! How long an exchange waits in which nothing moves.

use std::time::Duration;

/// How long a client may neither take nor send a byte that is waited for.
const STALL: Duration = Duration::from_secs(300);
/// How long an app may be silent when its client has ended its side of the connection, and so may be gone.
const HALF_CLOSED: Duration = Duration::from_secs(30);
/// How long an app may take no byte of what it is sent. Longer than most of what keeps an app from reading, and yet not for
/// ever: behind bytes that wait nobody hears that the client is gone.
const NOT_TAKEN: Duration = Duration::from_secs(900);

/// Whom an exchange waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The app, which takes its time.
    Answer,
    Client,
    AnswerForHalfClosed,
    AppThatTakesNothing,
}

impl Wait {
    /// How long nothing may move; no limit when an app that has been sent everything takes its time to answer.
    pub(crate) fn limit(self) -> Option<Duration> {
        match self {
            Self::Answer => None,
            Self::Client => Some(STALL),
            Self::AnswerForHalfClosed => Some(HALF_CLOSED),
            Self::AppThatTakesNothing => Some(NOT_TAKEN),
        }
    }
}
