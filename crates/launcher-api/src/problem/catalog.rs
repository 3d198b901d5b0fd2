//! All kinds of problem: code, status, title and reference text.

use http::StatusCode;

/// Description of a kind of problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// The code as sent: kebab-case.
    pub(crate) code: &'static str,
    /// The status of the response.
    pub(crate) status: StatusCode,
    /// A few words.
    pub(crate) title: &'static str,
    /// Cause and remedy, for the reference.
    pub(crate) about: &'static str,
}

/// Builds the enum from the one list below, so that every kind has all four parts.
macro_rules! catalog {
    ($($kind:ident: $code:literal, $status:ident, $title:literal, $about:literal;)*) => {
        /// A kind of problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemCode {
            $(#[doc = $title] $kind,)*
        }

        impl ProblemCode {
            /// All kinds, by status.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Returns its description.
            pub(crate) const fn entry(self) -> Entry {
                match self {
                    $(Self::$kind => Entry { code: $code, status: StatusCode::$status, title: $title, about: $about },)*
                }
            }
        }
    };
}

catalog! {
    IdentityInvalid: "identity-invalid", BAD_REQUEST, "The identity header is wrong",
        "The identity header came twice, or beside another spelling of its name. The login proxy never sends \
         this: look at what stands between it and the service.";
    MalformedBody: "malformed-body", BAD_REQUEST, "The body is not JSON",
        "The body is not valid JSON, names a field twice, is nested more than 128 levels deep, broke off, or took \
         longer than 30 seconds.";
    AuthenticationRequired: "authentication-required", UNAUTHORIZED, "Log in first",
        "The request carries no identity, or one that is not an e-mail address. Send a browser to `login_url`.";
    IdentityUnproven: "identity-unproven", UNAUTHORIZED, "The request did not come through the auth proxy",
        "The request carries an identity without the proxy secret beside it (`X-Auth-Request-Proof`), and \
         SERVICE_PROXY_SECRET_FILE requires it. Logging in does not help. Use the service's public address; if you \
         did, give the auth proxy and the service the same secret, which `launcher doctor` checks.";
    AdminOnly: "admin-only", FORBIDDEN, "For administrators only",
        "Templates are managed, lists filtered by owner or template, and the activity log read, by the people in \
         SERVICE_ADMIN_EMAILS.";
    CrossSiteRequest: "cross-site-request", FORBIDDEN, "The request comes from another site",
        "A browser sent this change on behalf of another site (`Sec-Fetch-Site` or `Origin` say so). Only this \
         site's own pages, and programs that are not browsers, can change anything.";
    NotFound: "not-found", NOT_FOUND, "Not found",
        "There is nothing at this path, or it is somebody else's: the two are answered alike. This document has \
         no `request_id`, so that not even that differs; it is in the header `X-Request-Id`.";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED, "This method is not possible here",
        "The header `Allow` lists the methods that are.";
    TemplateInactive: "template-inactive", CONFLICT, "The template is archived",
        "Users cannot launch it any more; administrators can, to try it.";
    InstanceLimitReached: "instance-limit-reached", CONFLICT, "You have as many workshops as you may",
        "One person may hold SERVICE_MAX_INSTANCES_PER_USER instances in the states queued, starting, running and \
         terminating. End one first. One that is terminating counts until nothing of it runs any more; `detail` says so \
         when there is one. A failed one does not count, nor does its dismissal.";
    NotRunning: "not-running", CONFLICT, "The workshop is not running",
        "Only a running workshop has time to extend.";
    LifetimeLimitReached: "lifetime-limit-reached", CONFLICT, "The workshop cannot be extended any further",
        "It already has all the time that its template's max_lifetime_seconds allows.";
    ExpiryChanged: "expiry-changed", CONFLICT, "The end has changed",
        "`expected_expires_at` is not the instance's `expires_at`: somebody, or a double click, was quicker. Read \
         the instance again.";
    VersionMismatch: "version-mismatch", PRECONDITION_FAILED, "The template has changed",
        "`If-Match` does not list the template's current ETag. Read it again and repeat the change on top.";
    BodyTooLarge: "body-too-large", PAYLOAD_TOO_LARGE, "The body is too large",
        "A body has at most 1 KiB. A template has at most 256 KiB, and the form of the list of all instances 64 KiB.";
    UnsupportedMediaType: "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body is not declared as JSON",
        "Send `Content-Type: application/json`.";
    UnknownHost: "unknown-host", MISDIRECTED_REQUEST, "Not this service's name",
        "The request names a host that is neither that of SERVICE_PUBLIC_URL nor this machine, whatever the port. It is \
         refused so that a web page cannot reach the service under a name of its own (DNS rebinding). Correct \
         SERVICE_PUBLIC_URL, or let the proxy in front pass `Host` on as the client sent it.";
    InvalidFields: "invalid-fields", UNPROCESSABLE_ENTITY, "Fields of the body are wrong",
        "`errors` lists each wrong, missing or unknown field with its place as a JSON pointer into the body.";
    InvalidParameters: "invalid-parameters", UNPROCESSABLE_ENTITY, "Parameters are wrong",
        "`errors` lists each wrong or unknown query parameter or header; `/limit` is the parameter limit.";
    IdempotencyKeyReused: "idempotency-key-reused", UNPROCESSABLE_ENTITY, "This Idempotency-Key was used for another launch",
        "The same key came before with another template or body. Use a new key for a new launch.";
    TooManyRequests: "too-many-requests", TOO_MANY_REQUESTS, "Too many of your requests are in flight",
        "One person may have 64 requests in flight at a time, event streams not counted. A request is in flight until \
         its answer has been read. `Retry-After` says when to try again.";
    TooManyStreams: "too-many-streams", TOO_MANY_REQUESTS, "Too many event streams are open",
        "One person may have 32 event streams open at a time, tabs with a page of this site included. Close one.";
    TooManyLaunches: "too-many-launches", TOO_MANY_REQUESTS, "Too many launches in a short time",
        "One person may launch SERVICE_LAUNCH_RATE workshops per minute, and SERVICE_LAUNCH_BURST at once after a pause. \
         Only a launch that creates an instance counts; one that is repeated with its `Idempotency-Key` does not. \
         `Retry-After` says when the next launch is possible.";
    Internal: "internal", INTERNAL_SERVER_ERROR, "The service has made a mistake",
        "The log has the cause under this `request_id`.";
    AtCapacity: "at-capacity", SERVICE_UNAVAILABLE, "Too many workshops are waiting to start",
        "SERVICE_MAX_QUEUED launches wait already. `Retry-After` says when to try again.";
    Overloaded: "overloaded", SERVICE_UNAVAILABLE, "The service has too many bytes in flight",
        "Bodies and answers of all requests in flight take as much memory as they may. Nothing was changed by a request \
         with a body; of a large answer only the answer is lost. `Retry-After` says when to try again.";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE, "The service cannot answer right now",
        "The database does not answer. Most likely nothing was changed: where the connection broke while a change was \
         being stored, nobody can say. `Retry-After` says when to try again; repeat a launch with its `Idempotency-Key`.";
}

impl ProblemCode {
    /// Returns the code as sent: kebab-case.
    pub(crate) fn as_str(self) -> &'static str {
        self.entry().code
    }

    /// Returns the status of the response.
    pub(crate) fn status(self) -> StatusCode {
        self.entry().status
    }

    /// Returns the title: a few words.
    pub(crate) fn title(self) -> &'static str {
        self.entry().title
    }

    /// Returns the default retry delay in seconds, for temporary problems. A problem can override it.
    pub(crate) fn retry_after(self) -> Option<u32> {
        match self {
            Self::TooManyLaunches => Some(1),
            Self::TooManyRequests => Some(2),
            Self::Unavailable | Self::Overloaded => Some(5),
            Self::TooManyStreams => Some(10),
            Self::AtCapacity => Some(30),
            _ => None,
        }
    }
}
