//! Notices that report a failed action on the user's current page.

use http::StatusCode;
use launcher_domain::lifetime::ExtendError;
use launcher_service::ServiceError;

use super::texts;
use super::view::Notice;

/// Returns the status and the notice for an error that a user can correct; `None` for an error that needs its own page.
/// `in_list`: the page is a list, so a workshop that no longer exists also gets a notice.
pub(crate) fn of(error: &ServiceError, in_list: bool) -> Option<(StatusCode, Notice)> {
    let (status, kind, title, text) = match error {
        ServiceError::InstanceLimitReached { limit, held, ending } => {
            (StatusCode::CONFLICT, "wait", texts::LIMIT_TITLE, texts::limit_reached(*limit, *held, *ending))
        }
        ServiceError::TooManyLaunches { retry_after } => {
            (StatusCode::TOO_MANY_REQUESTS, "wait", texts::NOT_LAUNCHED, texts::too_many_launches(*retry_after))
        }
        ServiceError::TemplateInactive => {
            (StatusCode::CONFLICT, "wait", texts::NOT_LAUNCHED, texts::INACTIVE_USER.to_owned())
        }
        ServiceError::AtCapacity => {
            (StatusCode::SERVICE_UNAVAILABLE, "wait", texts::NOT_LAUNCHED, texts::AT_CAPACITY.to_owned())
        }
        ServiceError::IdempotencyKeyReused => {
            (StatusCode::UNPROCESSABLE_ENTITY, "bad", texts::NOT_LAUNCHED, texts::KEY_REUSED.to_owned())
        }
        ServiceError::Extend(error) => (StatusCode::CONFLICT, "wait", texts::NOT_EXTENDED, extend(*error).to_owned()),
        ServiceError::NotFound if in_list => (StatusCode::NOT_FOUND, "wait", texts::GONE_TITLE, texts::GONE.to_owned()),
        ServiceError::NotFound
        | ServiceError::Forbidden
        | ServiceError::Invalid(_)
        | ServiceError::VersionMismatch
        | ServiceError::Unavailable(_)
        | ServiceError::Internal(_) => return None,
    };
    Some((status, Notice { kind, title: title.to_owned(), text }))
}

/// Returns the retry delay in seconds; `None` if the error is not temporary.
pub(crate) fn retry_after(error: &ServiceError) -> Option<u32> {
    match error {
        ServiceError::AtCapacity => Some(60),
        ServiceError::TooManyLaunches { retry_after } => Some(*retry_after),
        _ => None,
    }
}

fn extend(error: ExtendError) -> &'static str {
    match error {
        ExtendError::ExpiryChanged => texts::EXPIRY_CHANGED,
        ExtendError::NotRunning | ExtendError::LifetimeLimitReached => texts::extend_denied(error),
    }
}
