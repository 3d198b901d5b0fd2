//! Failures of a workload, and the sources of their details.

use std::time::Duration;

use jiff::Timestamp;
pub(crate) use launcher_domain::messages::sentence;
use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_workshop::lifecycle;

/// The failure of a workload that cannot continue.
pub type Failure = lifecycle::Failure<DetailSource>;

/// Source of further details of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailSource {
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

/// Returns a failure without a source of further details.
pub(super) fn complete(code: FailureCode, detail: Option<FailureDetail>) -> Failure {
    FailureReason::new(code, detail).into()
}

/// Returns a failure with a source of further details.
pub(super) fn with_details(code: FailureCode, detail: Option<FailureDetail>, source: DetailSource) -> Failure {
    Failure { details: Some(source), ..complete(code, detail) }
}

/// Adds a duration to a time. The result saturates at [`Timestamp::MAX`].
pub(crate) fn add(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}
