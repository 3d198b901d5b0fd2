//! Deadlines of a workload that waits.

use std::time::Duration;

use jiff::Timestamp;

use super::failure::Failure;

/// The time at which a wait becomes a failure, and that failure.
pub(super) struct Deadline {
    pub(super) at: Timestamp,
    pub(super) failure: Failure,
}

impl Deadline {
    pub(super) fn new(since: Timestamp, grace: Duration, failure: impl FnOnce() -> Failure) -> Self {
        Self { at: add(since, grace), failure: failure() }
    }
}

/// Adds a duration to a time. The result saturates at [`Timestamp::MAX`].
pub(crate) fn add(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}
