//! Every kind of problem: its code, its status, its title, and what the reference says about it.

use http::StatusCode;

/// A kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemCode {
    IdentityInvalid,
    MalformedBody,
    AuthenticationRequired,
    AdminOnly,
    CrossSiteRequest,
    UnknownHost,
    NotFound,
    MethodNotAllowed,
    TemplateInactive,
    InstanceLimitReached,
    NotRunning,
    LifetimeLimitReached,
    ExpiryChanged,
    VersionMismatch,
    BodyTooLarge,
    UnsupportedMediaType,
    InvalidFields,
    InvalidParameters,
    IdempotencyKeyReused,
    Internal,
    AtCapacity,
    Unavailable,
}

/// What is said about a kind of problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) code: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    /// When it comes and what to do, for the reference.
    pub(crate) about: &'static str,
}

const fn entry(code: &'static str, status: StatusCode, title: &'static str, about: &'static str) -> Entry {
    Entry { code, status, title, about }
}

impl ProblemCode {
    /// All of them, by status.
    pub(crate) const ALL: [Self; 22] = [
        Self::IdentityInvalid,
        Self::MalformedBody,
        Self::AuthenticationRequired,
        Self::AdminOnly,
        Self::CrossSiteRequest,
        Self::UnknownHost,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::TemplateInactive,
        Self::InstanceLimitReached,
        Self::NotRunning,
        Self::LifetimeLimitReached,
        Self::ExpiryChanged,
        Self::VersionMismatch,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::InvalidFields,
        Self::InvalidParameters,
        Self::IdempotencyKeyReused,
        Self::Internal,
        Self::AtCapacity,
        Self::Unavailable,
    ];

    /// As it is sent: kebab-case.
    pub(crate) fn as_str(self) -> &'static str {
        self.entry().code
    }

    pub(crate) fn status(self) -> StatusCode {
        self.entry().status
    }

    pub(crate) fn title(self) -> &'static str {
        self.entry().title
    }

    /// When to try again, in seconds; for problems that pass by themselves.
    pub(crate) fn retry_after(self) -> Option<u32> {
        match self {
            Self::Unavailable => Some(5),
            Self::AtCapacity => Some(30),
            _ => None,
        }
    }

    /// What is said about it.
    pub(crate) fn entry(self) -> Entry {
        match self {
            Self::IdentityInvalid => entry(
                "identity-invalid",
                StatusCode::BAD_REQUEST,
                "The identity header is wrong",
                "The identity header came twice, or beside another spelling of its name. The login proxy never sends \
                 this: look at what stands between it and the service.",
            ),
            Self::MalformedBody => entry(
                "malformed-body",
                StatusCode::BAD_REQUEST,
                "The body is not JSON",
                "The body is not valid JSON, names a field twice, is nested more than 128 levels deep, or broke off.",
            ),
            Self::AuthenticationRequired => entry(
                "authentication-required",
                StatusCode::UNAUTHORIZED,
                "Log in first",
                "The request carries no identity, or one that is not an e-mail address. Send a browser to `login_url`.",
            ),
            Self::AdminOnly => entry(
                "admin-only",
                StatusCode::FORBIDDEN,
                "For administrators only",
                "Templates are managed, and lists filtered by owner or template, by the people in \
                 SERVICE_ADMIN_EMAILS.",
            ),
            Self::CrossSiteRequest => entry(
                "cross-site-request",
                StatusCode::FORBIDDEN,
                "The request comes from another site",
                "A browser sent this change on behalf of another site (`Sec-Fetch-Site` or `Origin` say so). Only this \
                 site's own pages, and programs that are not browsers, can change anything.",
            ),
            Self::UnknownHost => entry(
                "unknown-host",
                StatusCode::FORBIDDEN,
                "Not this service's name",
                "Authentication is off for development, and the request names a host that is neither this machine nor \
                 SERVICE_PUBLIC_URL's. It is refused so that a web page cannot reach the service under a name of its \
                 own (DNS rebinding).",
            ),
            Self::NotFound => entry(
                "not-found",
                StatusCode::NOT_FOUND,
                "Not found",
                "There is nothing at this path, or it is somebody else's: the two are answered alike. This document \
                 has no `request_id`, so that not even that differs; it is in the header `X-Request-Id`.",
            ),
            Self::MethodNotAllowed => entry(
                "method-not-allowed",
                StatusCode::METHOD_NOT_ALLOWED,
                "This method is not possible here",
                "The header `Allow` lists the methods that are.",
            ),
            Self::TemplateInactive => entry(
                "template-inactive",
                StatusCode::CONFLICT,
                "The template is archived",
                "Users cannot launch it any more; administrators can, to try it.",
            ),
            other => other.later_entry(),
        }
    }

    fn later_entry(self) -> Entry {
        match self {
            Self::InstanceLimitReached => entry(
                "instance-limit-reached",
                StatusCode::CONFLICT,
                "You have as many workshops as you may",
                "One person may hold SERVICE_MAX_INSTANCES_PER_USER instances in the states queued, starting and \
                 running. End one first.",
            ),
            Self::NotRunning => entry(
                "not-running",
                StatusCode::CONFLICT,
                "The workshop is not running",
                "Only a running workshop has time to extend.",
            ),
            Self::LifetimeLimitReached => entry(
                "lifetime-limit-reached",
                StatusCode::CONFLICT,
                "The workshop cannot be extended any further",
                "It already has all the time that its template's max_lifetime_seconds allows.",
            ),
            Self::ExpiryChanged => entry(
                "expiry-changed",
                StatusCode::CONFLICT,
                "The end has changed",
                "`expected_expires_at` is not the instance's `expires_at`: somebody, or a double click, was quicker. \
                 Read the instance again.",
            ),
            Self::VersionMismatch => entry(
                "version-mismatch",
                StatusCode::PRECONDITION_FAILED,
                "The template has changed",
                "`If-Match` does not list the template's current ETag. Read it again and repeat the change on top.",
            ),
            Self::BodyTooLarge => entry(
                "body-too-large",
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is too large",
                "A body has at most 256 KiB.",
            ),
            Self::UnsupportedMediaType => entry(
                "unsupported-media-type",
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The body is not declared as JSON",
                "Send `Content-Type: application/json`.",
            ),
            Self::InvalidFields => entry(
                "invalid-fields",
                StatusCode::UNPROCESSABLE_ENTITY,
                "Fields of the body are wrong",
                "`errors` lists each wrong, missing or unknown field with its place as a JSON pointer into the body.",
            ),
            Self::InvalidParameters => entry(
                "invalid-parameters",
                StatusCode::UNPROCESSABLE_ENTITY,
                "Parameters are wrong",
                "`errors` lists each wrong or unknown query parameter or header; `/limit` is the parameter limit.",
            ),
            Self::IdempotencyKeyReused => entry(
                "idempotency-key-reused",
                StatusCode::UNPROCESSABLE_ENTITY,
                "This Idempotency-Key was used for another launch",
                "The same key came before with another template or body. Use a new key for a new launch.",
            ),
            Self::AtCapacity => entry(
                "at-capacity",
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many workshops are waiting to start",
                "SERVICE_MAX_QUEUED launches wait already. `Retry-After` says when to try again.",
            ),
            Self::Unavailable => entry(
                "unavailable",
                StatusCode::SERVICE_UNAVAILABLE,
                "The service cannot answer right now",
                "The database does not answer. Nothing was changed. `Retry-After` says when to try again.",
            ),
            _ => entry(
                "internal",
                StatusCode::INTERNAL_SERVER_ERROR,
                "The service has made a mistake",
                "The log has the cause under this `request_id`.",
            ),
        }
    }
}
