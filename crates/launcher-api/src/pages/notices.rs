//! Notices that report a failed action on the user's current page.

use axum::response::Response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use launcher_domain::instance::ResumeError;
use launcher_domain::lifetime::ExtendError;
use launcher_service::{ServiceError, VolumeUser};

use crate::pages::view::{Blockers, Notice, WorkshopView};
use crate::pages::{Language, Text, Visitor, workshops};
use crate::problem::ProblemCode;

/// Returns the status and the notice for an error that a user can correct; `None` for an error that needs its own page.
/// `in_list`: the page is a list, so a workshop that no longer exists also gets a notice.
pub(crate) fn of(t: Language, error: &ServiceError, in_list: bool) -> Option<(StatusCode, Notice)> {
    let problem = ProblemCode::from(error);
    let code = problem.as_str();
    let (title, text) = match error {
        ServiceError::InstanceLimitReached { limit, held, ending } => {
            let values = [("limit", (*limit).into()), ("held", (*held).into()), ("ending", (*ending).into())];
            ("limit-title", t.with("limit-reached", values).into())
        }
        ServiceError::TooManyLaunches { retry_after } => {
            ("not-launched", t.with_one("too-many-launches", "seconds", *retry_after).into())
        }
        ServiceError::ClassLimitReached { limit, is_of_caller } => {
            let key = if *is_of_caller { "class-limit-own" } else { "class-limit" };
            ("limit-title", t.with_one(key, "limit", *limit).into())
        }
        ServiceError::ClassOver => ("not-launched", t.text("class-over")),
        ServiceError::ClassNotBegun => ("not-launched", t.text("class-not-begun")),
        ServiceError::TemplateInactive => ("not-launched", t.text("inactive-user")),
        ServiceError::TemplateNotAllowed(errors) => {
            let reasons: Vec<String> = errors.iter().map(|error| t.field_error(error)).collect();
            ("not-launched", t.with_one("not-allowed-in-class", "reasons", reasons.join(" ")).into())
        }
        ServiceError::AtCapacity => ("not-launched", t.text("at-capacity")),
        ServiceError::VolumeInUse(VolumeUser { k8s_name, is_suspended }) => {
            let key = if *is_suspended { "volume-in-use-suspended" } else { "volume-in-use" };
            ("volume-in-use-title", t.with_one(key, "workshop", k8s_name.as_str()).into())
        }
        ServiceError::StorageLimitReached { limit_gib } => {
            ("storage-limit-title", t.with_one("storage-limit", "gib", *limit_gib).into())
        }
        ServiceError::IdempotencyKeyReused => ("not-launched", t.text("key-reused")),
        ServiceError::Extend(ExtendError::ExpiryChanged) => ("not-extended", t.text("expiry-changed")),
        ServiceError::Extend(error) => ("not-extended", t.not_extended(*error)),
        ServiceError::Suspend(_) => ("not-paused", t.text(&format!("not-paused-{code}"))),
        ServiceError::Resume(ResumeError::StillSuspending) => ("not-resumed", t.text("not-resumed-still-pausing")),
        ServiceError::Resume(ResumeError::NotSuspended) => ("not-resumed", t.text("not-resumed-not-paused")),
        ServiceError::Restart(_) => ("not-restarted", t.text(&format!("not-restarted-{code}"))),
        ServiceError::FleetWithoutDownloads => ("no-download-title", t.text("no-download")),
        ServiceError::DownloadNotReady(_) => ("no-download-title", t.text("download-not-ready")),
        ServiceError::SnapshotsUnavailable(_) => ("no-download-title", t.text("snapshots-unavailable")),
        ServiceError::TooManyDownloads => ("no-download-title", t.text("too-many-downloads")),
        ServiceError::NotFound if in_list => ("gone-title", t.text("gone")),
        ServiceError::NotFound
        | ServiceError::Forbidden
        | ServiceError::ClassRole
        | ServiceError::ClassVersionMismatch
        | ServiceError::UnknownJoinCode
        | ServiceError::TooManyJoinCodes { .. }
        | ServiceError::TooManyHandChanges { .. }
        | ServiceError::JoinRefused(_)
        | ServiceError::Invalid(_)
        | ServiceError::VersionMismatch
        | ServiceError::FleetWithoutImages
        | ServiceError::FleetWithoutChecks
        | ServiceError::TooManyChecks
        | ServiceError::FleetUnavailable(_)
        | ServiceError::Unavailable(_)
        | ServiceError::Internal(_) => return None,
    };
    let kind = if matches!(error, ServiceError::IdempotencyKeyReused) { "bad" } else { "wait" };
    Some((problem.status(), Notice { kind, title: t.text(title), text, blockers: None }))
}

/// Returns the text for an error of another person's workshop; `None` for an error of the launcher.
pub(crate) fn of_other(t: Language, error: &ServiceError) -> Option<Text> {
    let limit = |key: &str, limit: u32| Some(t.with_one(key, "limit", limit).into());
    match error {
        ServiceError::InstanceLimitReached { limit: most, .. } => limit("other-limit", *most),
        ServiceError::ClassLimitReached { limit: most, is_of_caller: true } => limit("other-class-limit", *most),
        ServiceError::ClassLimitReached { limit: most, .. } => limit("all-class-limit", *most),
        ServiceError::TooManyLaunches { .. } => Some(t.text("other-too-many-launches")),
        ServiceError::VolumeInUse(_) => Some(t.text("other-volume-in-use")),
        ServiceError::StorageLimitReached { limit_gib } => Some(t.with_one("other-storage", "gib", *limit_gib).into()),
        ServiceError::NotFound => Some(t.text("role-none")),
        error => of(t, error, true).map(|(_, notice)| notice.text),
    }
}

/// Returns the notice about a template whose launch asks for values.
pub(crate) fn needs_values(t: Language) -> Notice {
    Notice { kind: "wait", title: t.text("not-launched"), text: t.text("all-needs-values"), blockers: None }
}

impl Notice {
    /// Adds the workshops that prevent the launch, for a page without the list of the reader's workshops. `back` is the path
    /// of this page.
    pub(crate) async fn with_blockers(
        self,
        visitor: &Visitor,
        error: &ServiceError,
        back: String,
    ) -> Result<Self, ServiceError> {
        let mut workshops = match error {
            ServiceError::InstanceLimitReached { .. } | ServiceError::VolumeInUse(_) => {
                workshops::own_live(visitor).await?
            }
            _ => return Ok(self),
        };
        let is_blocker = |workshop: &WorkshopView| match error {
            ServiceError::VolumeInUse(user) => workshop.k8s_name == user.k8s_name,
            _ => !workshop.can_resume(),
        };
        workshops.retain(|workshop| workshop.can_end() && is_blocker(workshop));
        Ok(Self { blockers: Some(Blockers { workshops, back }), ..self })
    }
}

/// Sets `Retry-After` if the error is temporary.
pub(crate) fn set_retry_after(response: &mut Response, error: &ServiceError) {
    let seconds = match error {
        ServiceError::AtCapacity => 60,
        ServiceError::TooManyLaunches { retry_after } => *retry_after,
        _ => return,
    };
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
}
