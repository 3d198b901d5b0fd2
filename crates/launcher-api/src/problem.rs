//! Errors as data (RFC 9457). Handlers return a [`Problem`]. A middleware renders it as a problem document under the
//! base path, and as a page elsewhere.
//!
//! The list `catalog!` below declares each kind of problem once.

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use launcher_domain::instance::{RestartError, SuspendError};
use launcher_domain::lifetime::ExtendError;
use launcher_domain::{FieldError, FieldRule};
use launcher_service::ServiceError;
use serde::{Serialize, Serializer};

/// An error that a client gets as a problem document or a page.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Kind of problem. It determines the status and the title.
    pub(crate) code: ProblemCode,
    /// One sentence that describes the error in this request, and how to correct it.
    pub(crate) detail: String,
    /// Wrong fields with their JSON pointers, for status 422.
    pub(crate) errors: Vec<FieldError>,
    pub(crate) login_url: Option<String>,
    /// Retry delay in seconds, for status 429 and 503.
    retry_after: Option<u32>,
    /// Internal cause of the error. Only the log contains it, never a response.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        let Entry { retry_after, .. } = code.entry();
        Self { code, detail: detail.into(), errors: Vec::new(), login_url: None, retry_after, cause: None }
    }

    /// Creates the problem for a resource that does not exist, or that the caller may not see. Both cases have the same
    /// text, so that a caller cannot distinguish them.
    pub(crate) fn not_found() -> Self {
        Self::new(ProblemCode::NotFound, "The resource does not exist, or you may not see it.")
    }

    /// Creates the problem for a body with wrong fields. `errors` must not be empty.
    pub(crate) fn invalid_fields(errors: Vec<FieldError>) -> Self {
        let detail = wrong_fields(&errors);
        Self { errors, ..Self::new(ProblemCode::InvalidFields, detail) }
    }

    /// Creates the problem for a wrong query parameter or header.
    pub(crate) fn invalid_parameter(name: &str, detail: impl Into<String>) -> Self {
        let error = FieldError::new(format!("/{name}"), FieldRule::Parameter { message: detail.into() });
        let problem = Self::new(ProblemCode::InvalidParameters, "Correct the parameters that are listed in errors.");
        Self { errors: vec![error], ..problem }
    }

    /// Creates the problem for an internal error. Only the log contains the cause.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "The service had an internal error. Quote the request_id when you report it.";
        Self::new(ProblemCode::Internal, detail).because(cause)
    }

    pub(crate) fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(Arc::from(cause.into())), ..self }
    }

    pub(crate) fn cause(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
    }

    pub(crate) fn login_at(self, url: String) -> Self {
        Self { login_url: Some(url), ..self }
    }
}

impl IntoResponse for Problem {
    /// Sets status and headers, and attaches the problem as an extension; `middleware::render` writes the body.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            // HTTP requires this header on a 401. No browser shows a login dialog for this scheme.
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Cookie realm=\"workshops\""));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let code = ProblemCode::from(&error);
        match error {
            ServiceError::NotFound => Self::not_found(),
            ServiceError::Invalid(errors) => Self::invalid_fields(errors),
            ServiceError::Internal(_) => Self::internal(error),
            ServiceError::JoinRefused(refusal) => Self::new(code, refusal.to_string()),
            ServiceError::Unavailable(_) => {
                let detail = "The database does not answer. Usually nothing was changed. Try again in a moment. Repeat \
                              a launch with its Idempotency-Key.";
                Self::new(code, detail).because(error)
            }
            ServiceError::FleetUnavailable(_) => {
                let detail = "The fleet does not answer. Nothing was changed. Try again in a moment.";
                Self::new(code, detail).because(error)
            }
            ServiceError::TooManyLaunches { retry_after }
            | ServiceError::TooManyJoinCodes { retry_after }
            | ServiceError::TooManyHandChanges { retry_after } => {
                Self { retry_after: Some(retry_after), ..Self::new(code, sentence(&error.to_string())) }
            }
            _ => Self::new(code, sentence(&error.to_string())),
        }
    }
}

/// Maximum errors that the sentence about wrong fields names.
const NAMED_ERRORS: usize = 3;

/// Returns one sentence about wrong fields. It names the first ones.
fn wrong_fields(errors: &[FieldError]) -> String {
    let about = |error: &FieldError| match &*error.pointer {
        "" => format!("the body {}", error.detail()),
        pointer => format!("{pointer}: {}", error.detail()),
    };
    let named: Vec<String> = errors.iter().take(NAMED_ERRORS).map(about).collect();
    let (rest, named) = (errors.len().saturating_sub(NAMED_ERRORS), named.join("; "));
    let more = if rest > 0 { format!("; and {rest} more, which errors lists") } else { String::new() };
    format!("Nothing was changed: {named}{more}.")
}

/// Returns the text of an error as a sentence, with a capital letter and a full stop.
pub(crate) fn sentence(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with(['.', '。']) { sentence } else { format!("{sentence}.") }
}

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// A problem as the service sends it (RFC 9457).
#[derive(Debug, Serialize)]
pub(crate) struct ProblemDocument<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    login_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct FieldDocument<'a> {
    pointer: &'a str,
    detail: String,
}

impl<'a> ProblemDocument<'a> {
    /// Creates the document of a problem. A `not-found` document has no request id: the answer for another user's
    /// instance must be the same as for a missing one.
    pub(crate) fn new(problem: &'a Problem, base_path: &str, request_id: &'a str) -> Self {
        let code = problem.code;
        let field = |error: &'a FieldError| FieldDocument { pointer: &error.pointer, detail: error.detail() };
        Self {
            kind: format!("{base_path}/problems#{}", code.as_str()),
            title: code.entry().title,
            status: code.status().as_u16(),
            detail: &problem.detail,
            code: code.as_str(),
            request_id: (code != ProblemCode::NotFound).then_some(request_id),
            login_url: problem.login_url.as_deref(),
            errors: problem.errors.iter().map(field).collect(),
        }
    }
}

/// The reference of problems in Markdown: a section for each code, with its cause and its remedy.
pub(crate) const REFERENCE: &str = include_str!("../../../docs/problems.md");

/// Description of one kind of problem. [`catalog`] explains the fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    code: &'static str,
    status: StatusCode,
    pub(crate) retry_after: Option<u32>,
    pub(crate) page: Option<&'static str>,
    pub(crate) title: &'static str,
}

/// Value of an optional part of the catalog.
macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

/// Builds the enum of all kinds of problem from one list. An entry has these parts:
///
/// - code in responses, in kebab-case, and status;
/// - `retry_after`, for a temporary problem: default retry delay in seconds. A [`Problem`] can override it;
/// - `page`: the code whose title and text an error page shows, if it is not the own code;
/// - `errors`: the errors of the use cases that are this problem. The compiler reports an error that no entry has;
/// - title. `docs/problems.md` has cause and remedy.
macro_rules! catalog {
    ($(
        $kind:ident: $code:literal, $status:ident,
        $(retry_after: $retry_after:literal,)?
        $(page: $page:literal,)?
        $(errors: $errors:pat,)?
        $title:literal;
    )*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemCode {
            $(#[doc = $title] $kind,)*
        }

        impl ProblemCode {
            /// All kinds of problem, ordered by status.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind,)*];

            pub(crate) const fn entry(self) -> Entry {
                match self {
                    $(Self::$kind => Entry {
                        code: $code,
                        status: StatusCode::$status,
                        retry_after: optional!($($retry_after)?),
                        page: optional!($($page)?),
                        title: $title,
                    },)*
                }
            }
        }

        impl From<&ServiceError> for ProblemCode {
            fn from(error: &ServiceError) -> Self {
                match error {
                    $($($errors => Self::$kind,)?)*
                }
            }
        }
    };
}

catalog! {
    IdentityInvalid: "identity-invalid", BAD_REQUEST, "The identity header is invalid";
    MalformedBody: "malformed-body", BAD_REQUEST, "The body is not valid JSON";
    AuthenticationRequired: "authentication-required", UNAUTHORIZED, "Log in first";
    IdentityUnproven: "identity-unproven", UNAUTHORIZED, "The request did not come through the auth proxy";
    AdminOnly: "admin-only", FORBIDDEN, errors: ServiceError::Forbidden, "Only for administrators";
    CrossSiteRequest: "cross-site-request", FORBIDDEN, "The request comes from another site";
    NotFound: "not-found", NOT_FOUND, errors: ServiceError::NotFound, "Not found";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED, "The path does not support this method";
    TemplateInactive: "template-inactive", CONFLICT, errors: ServiceError::TemplateInactive, "The template is archived";
    TemplateNotAllowed: "template-not-allowed", CONFLICT,
        errors: ServiceError::TemplateNotAllowed(_), "The class does not allow this template any more";
    InstanceLimitReached: "instance-limit-reached", CONFLICT,
        errors: ServiceError::InstanceLimitReached { .. }, "You have reached your limit of workshops";
    VolumeInUse: "volume-in-use", CONFLICT, errors: ServiceError::VolumeInUse(_), "Another workshop uses these files";
    StorageLimitReached: "storage-limit-reached", CONFLICT,
        errors: ServiceError::StorageLimitReached { .. }, "Your saved work has reached its limit";
    ClassRole: "class-role", FORBIDDEN, errors: ServiceError::ClassRole, "Your role in the class does not permit this";
    ClassLimitReached: "class-limit-reached", CONFLICT,
        errors: ServiceError::ClassLimitReached { .. }, "The class has reached its limit of workshops";
    ClassOver: "class-over", CONFLICT, errors: ServiceError::ClassOver, "The class is over";
    ClassNotBegun: "class-not-begun", CONFLICT, errors: ServiceError::ClassNotBegun, "The class has not begun";
    JoinRefused: "join-refused", FORBIDDEN, errors: ServiceError::JoinRefused(_), "The link does not admit you";
    UnknownJoinCode: "unknown-join-code", NOT_FOUND, errors: ServiceError::UnknownJoinCode, "No class has this code";
    NotRunning: "not-running", CONFLICT,
        errors: ServiceError::Extend(ExtendError::NotRunning) | ServiceError::Suspend(SuspendError::NotRunning)
            | ServiceError::Restart(RestartError::NotRunning),
        "The workshop is not running";
    FilesNotKept: "files-not-kept", CONFLICT,
        errors: ServiceError::Suspend(SuspendError::FilesNotKept), "The workshop's files are not kept";
    NotSuspended: "not-suspended", CONFLICT, errors: ServiceError::Resume(_), "The workshop is not suspended";
    NotOutdated: "not-outdated", CONFLICT,
        errors: ServiceError::Restart(RestartError::NotOutdated), "The workshop is not outdated";
    LifetimeLimitReached: "lifetime-limit-reached", CONFLICT,
        errors: ServiceError::Extend(ExtendError::LifetimeLimitReached),
        "The workshop has reached its maximum lifetime";
    ExpiryChanged: "expiry-changed", CONFLICT,
        errors: ServiceError::Extend(ExtendError::ExpiryChanged), "The expiry has changed";
    FleetWithoutImages: "fleet-without-images", CONFLICT,
        errors: ServiceError::FleetWithoutImages, "The fleet does not manage images";
    FleetWithoutChecks: "fleet-without-checks", CONFLICT,
        errors: ServiceError::FleetWithoutChecks, "The launcher cannot check course material";
    FleetWithoutDownloads: "fleet-without-downloads", CONFLICT,
        errors: ServiceError::FleetWithoutDownloads, "The fleet cannot read kept files";
    VersionMismatch: "version-mismatch", PRECONDITION_FAILED,
        errors: ServiceError::VersionMismatch, "The template has changed";
    ClassVersionMismatch: "class-version-mismatch", PRECONDITION_FAILED,
        errors: ServiceError::ClassVersionMismatch, "The class has changed";
    BodyTooLarge: "body-too-large", PAYLOAD_TOO_LARGE, "The body is too large";
    UnsupportedMediaType: "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body is not declared as JSON";
    UnknownHost: "unknown-host", MISDIRECTED_REQUEST, "The request is for another host";
    InvalidFields: "invalid-fields", UNPROCESSABLE_ENTITY,
        errors: ServiceError::Invalid(_), "Fields of the body are invalid";
    InvalidParameters: "invalid-parameters", UNPROCESSABLE_ENTITY, "Parameters are invalid";
    IdempotencyKeyReused: "idempotency-key-reused", UNPROCESSABLE_ENTITY,
        errors: ServiceError::IdempotencyKeyReused, "This Idempotency-Key was used for another launch";
    TooManyRequests: "too-many-requests", TOO_MANY_REQUESTS,
        retry_after: 2, page: "unavailable", "Too many of your requests are in flight";
    TooManyStreams: "too-many-streams", TOO_MANY_REQUESTS, retry_after: 10, "Too many event streams are open";
    TooManyDownloads: "too-many-downloads", TOO_MANY_REQUESTS,
        retry_after: 60, errors: ServiceError::TooManyDownloads, "Too many downloads are in progress";
    TooManyChecks: "too-many-checks", TOO_MANY_REQUESTS,
        retry_after: 30, errors: ServiceError::TooManyChecks, "Too many checks are in progress";
    TooManyLaunches: "too-many-launches", TOO_MANY_REQUESTS,
        retry_after: 1, errors: ServiceError::TooManyLaunches { .. }, "Too many launches in a short time";
    TooManyJoinCodes: "too-many-join-codes", TOO_MANY_REQUESTS,
        retry_after: 600, errors: ServiceError::TooManyJoinCodes { .. }, "Too many wrong codes";
    TooManyHandChanges: "too-many-hand-changes", TOO_MANY_REQUESTS,
        retry_after: 60, errors: ServiceError::TooManyHandChanges { .. }, "Too many changes of a hand";
    Internal: "internal", INTERNAL_SERVER_ERROR, errors: ServiceError::Internal(_), "The service had an internal error";
    DownloadNotReady: "download-not-ready", SERVICE_UNAVAILABLE,
        retry_after: 60, errors: ServiceError::DownloadNotReady(_), "The files could not be opened in time";
    SnapshotsUnavailable: "snapshots-unavailable", SERVICE_UNAVAILABLE,
        retry_after: 60, errors: ServiceError::SnapshotsUnavailable(_), "The saved files cannot be read now";
    AtCapacity: "at-capacity", SERVICE_UNAVAILABLE,
        retry_after: 30, page: "unavailable", errors: ServiceError::AtCapacity,
        "Too many workshops are waiting to start";
    Overloaded: "overloaded", SERVICE_UNAVAILABLE,
        retry_after: 5, page: "unavailable", "The service has too many bytes in flight";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE,
        retry_after: 5, errors: ServiceError::Unavailable(_) | ServiceError::FleetUnavailable(_),
        "The service cannot answer right now";
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ProblemCode {
    /// Returns the code in responses, in kebab-case.
    pub(crate) fn as_str(self) -> &'static str {
        self.entry().code
    }

    pub(crate) fn status(self) -> StatusCode {
        self.entry().status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_has_one_section_for_each_code() {
        let (_, sections) = REFERENCE.split_once("\n## ").unwrap_or_default();
        let sections: Vec<&str> = sections.split("\n## ").collect();
        assert_eq!(sections.len(), ProblemCode::ALL.len());
        for (section, code) in sections.iter().zip(ProblemCode::ALL) {
            let start = format!("{}\n\n**{} {}.** ", code.as_str(), code.status().as_u16(), code.entry().title);
            assert!(section.starts_with(&start), "docs/problems.md: {start:?} expected, found {section:?}");
        }
    }
}
