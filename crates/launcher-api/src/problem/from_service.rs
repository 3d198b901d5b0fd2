//! Maps the errors of the use cases to problems.

use launcher_domain::instance::{RestartError, SuspendError};
use launcher_domain::lifetime::ExtendError;
use launcher_service::ServiceError;

use super::catalog::ProblemCode;
use super::response::Problem;

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let code = match error {
            ServiceError::NotFound => return Self::not_found(),
            ServiceError::Invalid(errors) => return Self::invalid_fields(errors),
            ServiceError::Unavailable(_) => {
                let detail = "The database does not answer. Usually nothing was changed. Try again in a moment. Repeat \
                              a launch with its Idempotency-Key.";
                return Self::new(ProblemCode::Unavailable, detail).because(error);
            }
            ServiceError::FleetUnavailable(_) => {
                let detail = "The fleet does not answer. Nothing was changed. Try again in a moment.";
                return Self::new(ProblemCode::Unavailable, detail).because(error);
            }
            ServiceError::TooManyLaunches { retry_after } => {
                return Self::new(ProblemCode::TooManyLaunches, sentence(&error.to_string())).retry_in(retry_after);
            }
            ServiceError::Internal(_) => return Self::internal(error),
            ServiceError::Forbidden => ProblemCode::AdminOnly,
            ServiceError::TemplateInactive => ProblemCode::TemplateInactive,
            ServiceError::InstanceLimitReached { .. } => ProblemCode::InstanceLimitReached,
            ServiceError::AtCapacity => ProblemCode::AtCapacity,
            ServiceError::VolumeInUse(_) => ProblemCode::VolumeInUse,
            ServiceError::StorageLimitReached { .. } => ProblemCode::StorageLimitReached,
            ServiceError::IdempotencyKeyReused => ProblemCode::IdempotencyKeyReused,
            ServiceError::FleetWithoutDownloads => ProblemCode::FleetWithoutDownloads,
            ServiceError::DownloadNotReady(_) => {
                return Self::new(ProblemCode::DownloadNotReady, sentence(&error.to_string())).retry_in(60);
            }
            ServiceError::SnapshotsUnavailable(_) => {
                return Self::new(ProblemCode::SnapshotsUnavailable, sentence(&error.to_string())).retry_in(60);
            }
            ServiceError::TooManyDownloads => {
                return Self::new(ProblemCode::TooManyDownloads, sentence(&error.to_string())).retry_in(60);
            }
            ServiceError::FleetWithoutImages => ProblemCode::FleetWithoutImages,
            ServiceError::VersionMismatch => ProblemCode::VersionMismatch,
            ServiceError::Extend(ExtendError::NotRunning)
            | ServiceError::Suspend(SuspendError::NotRunning)
            | ServiceError::Restart(RestartError::NotRunning) => ProblemCode::NotRunning,
            ServiceError::Suspend(SuspendError::FilesNotKept) => ProblemCode::FilesNotKept,
            ServiceError::Resume(_) => ProblemCode::NotSuspended,
            ServiceError::Restart(RestartError::NotOutdated) => ProblemCode::NotOutdated,
            ServiceError::Extend(ExtendError::LifetimeLimitReached) => ProblemCode::LifetimeLimitReached,
            ServiceError::Extend(ExtendError::ExpiryChanged) => ProblemCode::ExpiryChanged,
        };
        Self::new(code, sentence(&error.to_string()))
    }
}

/// Turns an error's message into a sentence.
fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}
