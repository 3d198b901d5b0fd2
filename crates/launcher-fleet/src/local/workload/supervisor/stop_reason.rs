//! Reasons why an app stops.

use std::io;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy};
use tokio::task::JoinError;

/// Reason why an app stops.
#[derive(Debug)]
pub(super) enum StopReason {
    Failed(FailureReason),
    /// This machine could not start the app.
    NotStarted {
        problem: &'static str,
        error: io::Error,
    },
    Expired,
    /// The desired state changed before the app was started.
    Superseded,
}

impl From<JoinError> for StopReason {
    fn from(error: JoinError) -> Self {
        Self::NotStarted { problem: "the start was aborted", error: io::Error::other(error) }
    }
}

/// Returns the failure of an app that this machine could not start.
pub(super) fn start_failure(problem: &str, error: &io::Error) -> FailureReason {
    let detail = FailureDetail::NotStarted { problem: problem.to_owned(), error: error.to_string() };
    FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator)
}
