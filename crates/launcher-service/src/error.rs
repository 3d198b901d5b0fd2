//! Why a use case did not do what it was asked.

use launcher_domain::FieldError;
use launcher_domain::lifetime::ExtendError;
use launcher_store::StoreError;

/// Why a use case did not do what it was asked. Each variant has one answer in HTTP.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// It does not exist, as far as the caller may know.
    #[error("it does not exist")]
    NotFound,
    /// It is for admins.
    #[error("only an administrator may do this")]
    Forbidden,
    /// What was sent breaks rules; each with its place.
    #[error("{} of the fields cannot be accepted", .0.len())]
    Invalid(Vec<FieldError>),
    /// The template is not in the catalog any more.
    #[error("the template is inactive: it cannot be launched any more")]
    TemplateInactive,
    /// The caller holds as many instances as one person may.
    #[error("you have {held} workshops already and may have {limit} at a time: end one of them first")]
    InstanceLimitReached {
        /// How many one person may hold.
        limit: u32,
        /// How many the caller holds.
        held: u32,
    },
    /// Too many launches wait in line.
    #[error("too many workshops are waiting to start: try again in a minute")]
    AtCapacity,
    /// The idempotency key came with another request before.
    #[error("this Idempotency-Key was used for a different launch: use a new key for a new launch")]
    IdempotencyKeyReused,
    /// The instance cannot be extended.
    #[error(transparent)]
    Extend(#[from] ExtendError),
    /// The template has changed since the caller read it.
    #[error("the template has changed since it was read: read it again and repeat the change on top of it")]
    VersionMismatch,
    /// The database does not answer.
    #[error("the database does not answer")]
    Unavailable(#[source] StoreError),
    /// A defect.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => Self::Unavailable(error),
            other => Self::Internal(Box::new(other)),
        }
    }
}
