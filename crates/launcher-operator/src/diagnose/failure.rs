//! Failures of a workload, and the deadlines after which a wait becomes a failure.

use std::time::Duration;

use jiff::Timestamp;
pub(crate) use launcher_domain::messages::sentence;
use launcher_domain::{FailureCode, FailureDetail, FailureReason};

/// The failure of a workload that cannot continue.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The reason that the owner reads.
    pub reason: FailureReason,
    /// Source of further details.
    pub details: DetailSource,
}

/// Source of further details of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailSource {
    /// No source: the reason is complete.
    None,
    /// The log of this pod's container.
    Log {
        /// The pod's name.
        pod: String,
        /// The container's name.
        container: String,
    },
    /// The log of this pod's container, which has ended and does not run again yet.
    EndedLog {
        /// The pod's name.
        pod: String,
        /// The container's name.
        container: String,
    },
    /// The events of this pod.
    Events {
        /// The pod's name.
        pod: String,
    },
}

impl Failure {
    /// Creates a failure without a source of further details.
    pub(super) fn new(code: FailureCode, detail: Option<FailureDetail>) -> Self {
        Self { reason: FailureReason::new(code, detail), details: DetailSource::None }
    }
}

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
