//! The result of launching or watching the containers of a Workshop.

use launcher_domain::FailureReason;
use launcher_workshop::WorkshopStatus;

use crate::containers::engine::EngineError;

/// Result of launching or watching the containers of a Workshop.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The lifetime is over.
    Expired,
    /// The app has ended alone, for this reason.
    Crashed(Box<FailureReason>),
    /// The workshop failed, and the owner reads the reason.
    Failed(Box<FailureReason>),
    /// An earlier launcher has stored the final status, but was killed before it had removed the containers.
    Ending(Box<WorkshopStatus>),
    /// Both containers have ended, because the engine or the machine was restarted: start them again.
    Restart,
    /// The engine failed: try again.
    Retry(EngineError),
}

impl Outcome {
    pub(super) fn failed(reason: FailureReason) -> Self {
        Self::Failed(Box::new(reason))
    }
}

impl From<EngineError> for Outcome {
    fn from(error: EngineError) -> Self {
        Self::Retry(error)
    }
}
