//! Refusals of a restart.

/// Reason why a restart is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestartError {
    /// Only a running workshop can be restarted.
    #[error("only a running workshop can be restarted")]
    NotRunning,
    /// The workshop already has the current sidecar and settings, or its restart was already requested.
    #[error("the workshop does not run with an older version")]
    NotOutdated,
}
