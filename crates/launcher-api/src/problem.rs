//! Errors as data (RFC 9457). Handlers return a [`Problem`]. A middleware renders it as a problem document under the
//! base path, and as a page elsewhere.
//!
//! The list `catalog!` below declares each kind of problem once.

use std::error::Error;
use std::fmt::Write;
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
    /// Sets status and headers, and attaches the problem as an extension; `middleware::problems` writes the body.
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

/// Turns an error's message into a sentence.
fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
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

/// Returns the reference of problems as Markdown, with one section for each code.
#[must_use]
pub fn reference() -> String {
    let mut text = String::from(INTRODUCTION);
    for code in ProblemCode::ALL {
        let entry = code.entry();
        // Writing to a String does not fail.
        let _ = write!(text, "\n## {}\n\n**{} {}.** {}\n", entry.code, entry.status.as_u16(), entry.title, entry.about);
    }
    text
}

const INTRODUCTION: &str = "\
# Problems

For developers of programs that call the API, and for users or administrators who got an error.

First find the section below that has the `code` of the error as its heading. In a program, compare `code`. Later
versions may add codes. If your program does not know a code, use `status` to handle the error.

Every error of the API is a problem document (RFC 9457, `application/problem+json`):

| member | meaning |
|---|---|
| `code` | the kind of problem, for programs. Each code has a section below |
| `type` | the URL of the section below that describes the code |
| `title` | the kind of problem, in a few words |
| `status` | the HTTP status |
| `detail` | the error in this request, and how to correct it |
| `request_id` | the request's id, also in the service's log and in the header `X-Request-Id`. `not-found` has none |
| `errors` | only with 422: each invalid field or parameter, as `{pointer, detail}` |
| `login_url` | only with `authentication-required`: the URL at which a browser logs in |
";

/// Description of one kind of problem. [`catalog`] explains the fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    code: &'static str,
    status: StatusCode,
    pub(crate) retry_after: Option<u32>,
    pub(crate) page: Option<&'static str>,
    pub(crate) title: &'static str,
    about: &'static str,
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
/// - title, and the text of the reference: cause and remedy.
macro_rules! catalog {
    ($(
        $kind:ident: $code:literal, $status:ident,
        $(retry_after: $retry_after:literal,)?
        $(page: $page:literal,)?
        $(errors: $errors:pat,)?
        $title:literal, $about:literal;
    )*) => {
        /// A kind of problem.
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
                        about: $about,
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
    IdentityInvalid: "identity-invalid", BAD_REQUEST,
        "The identity header is invalid",
        "The request has the identity header twice, or in two spellings. An auth proxy never sends such a request. \
         Another proxy may have added the header: check the proxies between the auth proxy and the service.";
    MalformedBody: "malformed-body", BAD_REQUEST,
        "The body is not valid JSON",
        "The body has one of these faults: it is not valid JSON; it is incomplete; it has the same field twice; it has \
         more than 128 levels; or it took more than 30 seconds to arrive.";
    AuthenticationRequired: "authentication-required", UNAUTHORIZED,
        "Log in first",
        "The request has no identity, or its identity is not an e-mail address. Open `login_url` in a browser, and log \
         in.";
    IdentityUnproven: "identity-unproven", UNAUTHORIZED,
        "The request did not come through the auth proxy",
        "The request has an identity, but no valid proxy secret in `X-Auth-Request-Proof`. The service requires this \
         secret, because SERVICE_PROXY_SECRET_FILE is set. Logging in again does not help. Users: open the service at \
         its public address. Administrators: if this also happens at the public address, give the auth proxy and the \
         service the same secret. `launcher doctor` checks the secret.";
    AdminOnly: "admin-only", FORBIDDEN,
        errors: ServiceError::Forbidden,
        "Only for administrators",
        "Only admins may manage templates and their images, extend all instances of a template, extend \
         instances beyond their maximum lifetime, restart outdated instances, filter the list of instances by owner or template, open the admins' pages, and read the activity log. Admins are the users in SERVICE_ADMIN_EMAILS. Only \
         they and the users in SERVICE_CLASS_CREATORS may create classes. Ask an administrator to add your address.";
    CrossSiteRequest: "cross-site-request", FORBIDDEN,
        "The request comes from another site",
        "A page of another site made the browser send a request that would change something. The service detects this \
         by `Sec-Fetch-Site` or `Origin`. Nothing was changed. Send changes from this site's own pages, or from a \
         program that is not a browser.";
    NotFound: "not-found", NOT_FOUND,
        errors: ServiceError::NotFound,
        "Not found",
        "The resource does not exist, or it belongs to another user. The service answers both cases with exactly the \
         same document. For this reason the document has no `request_id`. Read the header `X-Request-Id` instead.";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED,
        "The path does not support this method",
        "The header `Allow` lists the supported methods.";
    TemplateInactive: "template-inactive", CONFLICT,
        errors: ServiceError::TemplateInactive,
        "The template is archived",
        "Only admins can launch an archived template, to test it. Users: launch another template, or ask an \
         admin to restore this one.";
    TemplateNotAllowed: "template-not-allowed", CONFLICT,
        errors: ServiceError::TemplateNotAllowed(_),
        "The class does not allow this template any more",
        "The policy of the class has changed since the template was saved. `detail` names the field that it does not \
         allow. Running workshops continue. Teachers: change the template. Administrators: change the policy in the \
         settings of the class.";
    InstanceLimitReached: "instance-limit-reached", CONFLICT,
        errors: ServiceError::InstanceLimitReached { .. },
        "You have reached your limit of workshops",
        "Each user may have SERVICE_MAX_INSTANCES_PER_USER instances in the states queued, starting, running, \
         suspending and terminating. Admins have no limit. End one of your instances first. A suspending or terminating instance \
         counts until all of its processes or pods have stopped. If you have such an instance, `detail` says so. A \
         suspended or failed instance does not count. A dismissed instance does not count either, even while the service deletes its \
         workload.";
    VolumeInUse: "volume-in-use", CONFLICT,
        errors: ServiceError::VolumeInUse(_),
        "Another workshop uses these files",
        "Kept files belong to one workshop at a time. `detail` names the workshop that uses them. Continue there, or end \
         it and try again. A suspended workshop holds its files: resume or end it. A terminating workshop uses its files \
         until its workload is gone.";
    StorageLimitReached: "storage-limit-reached", CONFLICT,
        errors: ServiceError::StorageLimitReached { .. },
        "Your saved work has reached its limit",
        "The template keeps files, and this user has no volume for it yet. A new volume would exceed \
         SERVICE_MAX_STORAGE_GIB_PER_USER, which counts the sizes of all volumes of the user, whether they are full or \
         not. Delete a volume, or ask an admin. Launches with an existing volume are not refused. Admins have no limit.";
    ClassRole: "class-role", FORBIDDEN,
        errors: ServiceError::ClassRole,
        "Your role in the class does not permit this",
        "Students launch the templates of a class. Assistants also see and extend the workshops of all members. Teachers also \
         end them, and edit the class, its templates and its members. Admins may do all of this in each class.";
    ClassLimitReached: "class-limit-reached", CONFLICT,
        errors: ServiceError::ClassLimitReached { .. },
        "The class has reached its limit of workshops",
        "A class may have `max_workshops` workshops at a time, and each of its students `max_workshops_per_member`. Workshops \
         that have ended or failed do not count. End a workshop, or ask a teacher of the class.";
    ClassOver: "class-over", CONFLICT,
        errors: ServiceError::ClassOver,
        "The class is over",
        "Students cannot launch templates of a class that is archived, or whose last day is over. Their running workshops \
         continue. A teacher can change this: the fields `archived` and `ends_on` of the class.";
    ClassNotBegun: "class-not-begun", CONFLICT,
        errors: ServiceError::ClassNotBegun,
        "The class has not begun",
        "Students can launch templates of a class from its first day on: its field `starts_on`. Teachers can launch them before.";
    JoinRefused: "join-refused", FORBIDDEN,
        errors: ServiceError::JoinRefused(_),
        "The link does not admit you",
        "The join link exists, but it is revoked, expired or full, its class is archived, it is for other addresses, or a \
         teacher removed this person from the class. `detail` says which. Ask a teacher of the class.";
    UnknownJoinCode: "unknown-join-code", NOT_FOUND,
        errors: ServiceError::UnknownJoinCode,
        "No class has this code",
        "Compare the code with the one that the teacher shows, letter by letter. A code has 10 letters and digits; spaces, \
         dashes and upper case do not matter.";
    NotRunning: "not-running", CONFLICT,
        errors: ServiceError::Extend(ExtendError::NotRunning)
            | ServiceError::Suspend(SuspendError::NotRunning)
            | ServiceError::Restart(RestartError::NotRunning),
        "The workshop is not running",
        "Only a running instance can be extended, suspended or restarted. Wait until the instance is running, or launch a new one.";
    FilesNotKept: "files-not-kept", CONFLICT,
        errors: ServiceError::Suspend(SuspendError::FilesNotKept),
        "The workshop's files are not kept",
        "Only an instance whose template has the field `storage` can be suspended. The files of all other instances end \
         with their workload: end the instance instead.";
    NotSuspended: "not-suspended", CONFLICT,
        errors: ServiceError::Resume(_),
        "The workshop is not suspended",
        "Only a suspended instance can be resumed. A suspending instance is suspended when its workload is gone: try again \
         after some seconds. If the instance has ended or failed, launch its template again: the launch has its files.";
    NotOutdated: "not-outdated", CONFLICT,
        errors: ServiceError::Restart(RestartError::NotOutdated),
        "The workshop is not outdated",
        "Only an instance that runs with an older version of sidecar or settings can be restarted: its field `outdated` \
         is true. A repeated request for a restart also gets this error, because a requested restart makes `outdated` \
         false.";
    LifetimeLimitReached: "lifetime-limit-reached", CONFLICT,
        errors: ServiceError::Extend(ExtendError::LifetimeLimitReached),
        "The workshop has reached its maximum lifetime",
        "The instance already has the latest possible expiry, which the template's `max_lifetime_seconds` sets. Launch \
         a new instance.";
    ExpiryChanged: "expiry-changed", CONFLICT,
        errors: ServiceError::Extend(ExtendError::ExpiryChanged),
        "The expiry has changed",
        "`expected_expires_at` differs from the instance's `expires_at`, because another request changed `expires_at` \
         first. This happens, for example, after a double click. Read the instance again.";
    FleetWithoutImages: "fleet-without-images", CONFLICT,
        errors: ServiceError::FleetWithoutImages,
        "The fleet does not manage images",
        "Only the container fleet (`SERVICE_FLEET=containers`) has the images of templates on its server, and can pull \
         one ahead of a launch. On Kubernetes, each node pulls an image at its first launch there. The local fleet runs \
         no images.";
    FleetWithoutChecks: "fleet-without-checks", CONFLICT,
        errors: ServiceError::FleetWithoutChecks,
        "The launcher cannot check course material",
        "A check needs the program `launcher-material` beside the launcher, and `SERVICE_MAX_MATERIAL_CHECKS` above 0. Save \
         the template and try it: the page of the workshop reports course material that cannot be loaded.";
    FleetWithoutDownloads: "fleet-without-downloads", CONFLICT,
        errors: ServiceError::FleetWithoutDownloads,
        "The fleet cannot read kept files",
        "This fleet cannot read kept files without a workshop. Launch a workshop of the template, and download the files \
         there.";
    VersionMismatch: "version-mismatch", PRECONDITION_FAILED,
        errors: ServiceError::VersionMismatch,
        "The template has changed",
        "`If-Match` does not contain the template's current ETag, because another request changed the template. \
         Nothing was changed. Read the template again, and repeat the change.";
    ClassVersionMismatch: "class-version-mismatch", PRECONDITION_FAILED,
        errors: ServiceError::ClassVersionMismatch,
        "The class has changed",
        "`If-Match` does not contain the class's current ETag, because another request changed the class. Nothing was \
         changed. Read the class again, and repeat the change.";
    BodyTooLarge: "body-too-large", PAYLOAD_TOO_LARGE,
        "The body is too large",
        "The limit is 256 KiB for a template, 160 KiB for a launch, 128 KiB for the addresses of a class, 96 KiB for a class, 64 KiB for a form \
         of the page with all instances, 8 KiB for the forms of pages that end a workshop or choose a language, and \
         1 KiB for every other body.";
    UnsupportedMediaType: "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE,
        "The body is not declared as JSON",
        "Send `Content-Type: application/json`.";
    UnknownHost: "unknown-host", MISDIRECTED_REQUEST,
        "The request is for another host",
        "The host of the request is neither the host of SERVICE_PUBLIC_URL nor a loopback address. Users: open the \
         service at its public address. Administrators: correct SERVICE_PUBLIC_URL, or configure the proxy in front of \
         the service to forward `Host` unchanged. The service does not compare ports. It refuses other hosts to \
         prevent DNS rebinding.";
    InvalidFields: "invalid-fields", UNPROCESSABLE_ENTITY,
        errors: ServiceError::Invalid(_),
        "Fields of the body are invalid",
        "`errors` lists each invalid, missing or unknown field with its JSON pointer into the body.";
    InvalidParameters: "invalid-parameters", UNPROCESSABLE_ENTITY,
        "Parameters are invalid",
        "`errors` lists each invalid or unknown query parameter or header. The pointer `/limit` means the parameter \
         `limit`.";
    IdempotencyKeyReused: "idempotency-key-reused", UNPROCESSABLE_ENTITY,
        errors: ServiceError::IdempotencyKeyReused,
        "This Idempotency-Key was used for another launch",
        "An earlier launch with this key had another template or another body. Use a new key for a new launch.";
    TooManyRequests: "too-many-requests", TOO_MANY_REQUESTS,
        retry_after: 2, page: "unavailable",
        "Too many of your requests are in flight",
        "Each user may have 64 requests in flight. A request is in flight until the client has read its response. \
         Event streams do not count. `Retry-After` says when to try again.";
    TooManyStreams: "too-many-streams", TOO_MANY_REQUESTS,
        retry_after: 10,
        "Too many event streams are open",
        "Each user may have 32 open event streams. In each browser tab, these pages have one open event stream: the \
         home page, the pages of a workshop, and the page with all instances. Close an event stream or a tab.";
    TooManyDownloads: "too-many-downloads", TOO_MANY_REQUESTS,
        retry_after: 60, errors: ServiceError::TooManyDownloads,
        "Too many downloads are in progress",
        "Each user may have one download of kept files in progress, and all users together 8. `Retry-After` says when to \
         try again.";
    TooManyChecks: "too-many-checks", TOO_MANY_REQUESTS,
        retry_after: 30, errors: ServiceError::TooManyChecks,
        "Too many checks are in progress",
        "Only `SERVICE_MAX_MATERIAL_CHECKS` checks of course material can be in progress at the same time. Each takes at most \
         30 seconds. `Retry-After` says when to try again.";
    TooManyLaunches: "too-many-launches", TOO_MANY_REQUESTS,
        retry_after: 1, errors: ServiceError::TooManyLaunches { .. },
        "Too many launches in a short time",
        "Each user may launch SERVICE_LAUNCH_RATE workshops per minute. After a pause, each user may launch \
         SERVICE_LAUNCH_BURST workshops at once. Admins have no limit. `Retry-After` says when the next launch is \
         possible. A repeated launch with the same `Idempotency-Key` does not count, because it creates no instance.";
    TooManyJoinCodes: "too-many-join-codes", TOO_MANY_REQUESTS,
        retry_after: 600, errors: ServiceError::TooManyJoinCodes { .. },
        "Too many wrong codes",
        "Each user may try 20 codes of classes that do not exist in 10 minutes. `Retry-After` says when the next attempt is \
         possible. The link that the teacher sends needs no typing.";
    TooManyHandChanges: "too-many-hand-changes", TOO_MANY_REQUESTS,
        retry_after: 60, errors: ServiceError::TooManyHandChanges { .. },
        "Too many changes of a hand",
        "Each user may raise or lower the own hand 20 times in a minute. `Retry-After` says when the next change is possible.";
    Internal: "internal", INTERNAL_SERVER_ERROR,
        errors: ServiceError::Internal(_),
        "The service had an internal error",
        "Administrators: to find the cause, search the service's log for this `request_id`. Running workshops are not \
         affected.";
    DownloadNotReady: "download-not-ready", SERVICE_UNAVAILABLE,
        retry_after: 60, errors: ServiceError::DownloadNotReady(_),
        "The files could not be opened in time",
        "On Kubernetes, a pod reads the files. It did not become ready in time: for example, no node had room, or the \
         volume was still attached to another node. The files are not affected. `Retry-After` says when to try again. \
         Administrators: the service's log has the reason.";
    SnapshotsUnavailable: "snapshots-unavailable", SERVICE_UNAVAILABLE,
        retry_after: 60, errors: ServiceError::SnapshotsUnavailable(_),
        "The saved files cannot be read now",
        "The object store (SERVICE_SNAPSHOT_STORE) does not answer, or this launcher has none. The files are not affected. \
         `Retry-After` says when to try again. Administrators: the service's log has the reason.";
    AtCapacity: "at-capacity", SERVICE_UNAVAILABLE,
        retry_after: 30, page: "unavailable", errors: ServiceError::AtCapacity,
        "Too many workshops are waiting to start",
        "The queue already has SERVICE_MAX_QUEUED instances. `Retry-After` says when to try again.";
    Overloaded: "overloaded", SERVICE_UNAVAILABLE,
        retry_after: 5, page: "unavailable",
        "The service has too many bytes in flight",
        "Before you repeat a change, read the resource: the change may already have taken effect. Repeat a launch with \
         the same `Idempotency-Key`. `Retry-After` says when to try again. The bodies and responses in flight use all \
         the memory that is reserved for them. The service therefore refused the body of the request, or a large \
         response to the request. If it refused the body, nothing was changed. If it refused the response, the request \
         has taken effect. The error is the same in both cases.";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE,
        retry_after: 5, errors: ServiceError::Unavailable(_) | ServiceError::FleetUnavailable(_),
        "The service cannot answer right now",
        "The database does not answer, or for an image the container engine does not answer. `Retry-After` says when to \
         try again. Usually nothing was changed. But if the connection to the database broke during a commit, the \
         change may have taken effect. Before you repeat a change, read the resource. To repeat a launch safely, use \
         the same `Idempotency-Key`.";
}

impl Serialize for ProblemCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ProblemCode {
    /// Returns the kind of problem with this code.
    pub(crate) fn parse(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == code)
    }

    /// Returns the code in responses, in kebab-case.
    pub(crate) fn as_str(self) -> &'static str {
        self.entry().code
    }

    pub(crate) fn status(self) -> StatusCode {
        self.entry().status
    }
}
