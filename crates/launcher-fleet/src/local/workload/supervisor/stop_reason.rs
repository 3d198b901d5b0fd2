//! Reasons why an app stops.

use std::io;

use launcher_domain::{FailureCode, FailureReason};
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
        let message = format!("The workshop could not start: {problem} ({error}).");
        let remedy = "Launch it again; if it fails again, tell the administrator of this machine.";
        Self::Failed(FailureReason { message, ..FailureReason::new(FailureCode::Crashed, None) }.with_remedy(remedy))
    }
}

impl From<JoinError> for StopReason {
    fn from(error: JoinError) -> Self {
        Self::not_started("the start was aborted", &io::Error::other(error))
    }
}
