//! Reasons why an app stops.

use std::io;

use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy};
use tokio::task::JoinError;

/// Reason why an app stops.
#[derive(Debug)]
pub(super) enum StopReason {
    Failed(FailureReason),
    Expired,
    /// The desired state changed before the app was started.
    Superseded,
}

impl StopReason {
    /// Creates the reason for an app that this machine could not start, and logs the problem.
    pub(super) fn not_started(problem: &str, error: &io::Error) -> Self {
        tracing::error!(%error, problem, "starting Workshop failed");
        let detail = FailureDetail::NotStarted { problem: problem.to_owned(), error: error.to_string() };
        Self::Failed(FailureReason::only(FailureCode::Crashed, &detail).with_remedy(&FailureRemedy::TellAdministrator))
    }
}

impl From<JoinError> for StopReason {
    fn from(error: JoinError) -> Self {
        Self::not_started("the start was aborted", &io::Error::other(error))
    }
}
