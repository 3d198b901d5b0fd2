//! Saved files of an earlier Workshop: what all fleets decide alike.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::{FailureCode, FailureDetail, FailureReason};
use launcher_workshop::WorkshopRestore;
use tokio::time::sleep;

use crate::byte_stream::ByteStream;
use crate::port::{SavedFiles, SavedFilesError};

/// Attempts to place the files. The object store may be unavailable for a moment.
pub(crate) const ATTEMPTS: u32 = 5;
const RETRY_DELAY: Duration = Duration::from_secs(2);
/// Maximum time of one attempt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug, thiserror::Error)]
pub(crate) enum RestoreError {
    #[error("{0}")]
    Final(String),
    #[error("{0}")]
    Temporary(String),
}

impl RestoreError {
    /// Returns the error of an attempt that took too long.
    pub(crate) fn late() -> Self {
        Self::Temporary("it took too long".to_owned())
    }
}

impl From<RestoreError> for FailureReason {
    fn from(error: RestoreError) -> Self {
        let detail = FailureDetail::RestoreFailed { error: error.to_string().trim_end_matches('.').to_owned() };
        Self::new(FailureCode::FilesNotRestored, Some(detail))
    }
}

impl From<SavedFilesError> for RestoreError {
    fn from(error: SavedFilesError) -> Self {
        match error {
            SavedFilesError::Missing => Self::Final(error.to_string()),
            SavedFilesError::Unavailable(_) => Self::Temporary(error.to_string()),
        }
    }
}

impl From<io::Error> for RestoreError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A damaged archive, or too many files.
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::FileTooLarge => {
                Self::Final(error.to_string())
            }
            _ => Self::Temporary(error.to_string()),
        }
    }
}

pub(crate) async fn open(
    source: Option<&Arc<dyn SavedFiles>>,
    restore: &WorkshopRestore,
) -> Result<ByteStream, RestoreError> {
    let source = source.ok_or_else(|| RestoreError::Final("this launcher saves no files".to_owned()))?;
    Ok(source.open(&restore.snapshot).await?)
}

/// Waits before the next attempt.
pub(crate) async fn wait_to_retry(workshop: &str, error: RestoreError, attempt: u32) -> Result<(), RestoreError> {
    tracing::warn!(workshop, %error, attempt, "placing saved files failed");
    if attempt < ATTEMPTS && matches!(error, RestoreError::Temporary(_)) {
        sleep(RETRY_DELAY).await;
        return Ok(());
    }
    Err(error)
}
