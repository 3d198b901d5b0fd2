//! Refusals of a suspension and of a resume.

/// Reason why a suspension is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SuspendError {
    /// Only a running workshop can be suspended.
    #[error("only a running workshop can be paused")]
    NotRunning,
    /// The workshop has no volume: a suspension would lose its files.
    #[error("only a workshop with kept files can be paused")]
    FilesNotKept,
}

/// Reason why a resume is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The workload is still being removed.
    #[error("the workshop is still being paused: try again in a moment")]
    StillSuspending,
    /// Only a suspended workshop can be resumed.
    #[error("only a paused workshop can be resumed")]
    NotSuspended,
}
