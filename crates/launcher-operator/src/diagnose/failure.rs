//! Failures of a workload, and the sources of their details.

use std::time::Duration;

use jiff::Timestamp;
pub(crate) use launcher_domain::messages::sentence;
use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_workshop::lifecycle;

/// The failure of a workload that cannot continue.
pub type Failure = lifecycle::Failure<DetailSource>;

/// Source of further details of a failure: the log of a container, which `has_ended` if it does not run again yet, or the
/// events of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailSource {
    Log { pod: String, container: String, has_ended: bool },
    Events { pod: String },
}

pub(super) fn complete(code: FailureCode, detail: Option<FailureDetail>) -> Failure {
    FailureReason::new(code, detail).into()
}

pub(super) fn with_details(code: FailureCode, detail: Option<FailureDetail>, source: DetailSource) -> Failure {
    Failure { details: Some(source), ..complete(code, detail) }
}

/// Adds a duration to a time. The result saturates at [`Timestamp::MAX`].
pub(crate) fn add(time: Timestamp, duration: Duration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}
