//! All kinds of problem: code, status, title and reference text.

use http::StatusCode;

/// Description of one kind of problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// Code of the problem in responses, in kebab-case.
    pub(crate) code: &'static str,
    /// Status of the response.
    pub(crate) status: StatusCode,
    /// Short title of the problem.
    pub(crate) title: &'static str,
    /// Cause and remedy, for the reference of problems.
    pub(crate) about: &'static str,
}

/// Builds the enum of all kinds of problem from one list, so that every kind has code, status, title and text.
macro_rules! catalog {
    ($($kind:ident: $code:literal, $status:ident, $title:literal, $about:literal;)*) => {
        /// A kind of problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemCode {
            $(#[doc = $title] $kind,)*
        }

        impl ProblemCode {
            /// All kinds of problem, ordered by status.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Returns the description of this kind of problem.
            pub(crate) const fn entry(self) -> Entry {
                match self {
                    $(Self::$kind => Entry { code: $code, status: StatusCode::$status, title: $title, about: $about },)*
                }
            }
        }
    };
}

catalog! {
    IdentityInvalid: "identity-invalid", BAD_REQUEST, "The identity header is invalid",
        "The request has the identity header twice, or in two spellings. An auth proxy never sends such a request. \
         Another proxy may have added the header: check the proxies between the auth proxy and the service.";
    MalformedBody: "malformed-body", BAD_REQUEST, "The body is not valid JSON",
        "The body has one of these faults: it is not valid JSON; it is incomplete; it has the same field twice; it has \
         more than 128 levels; or it took more than 30 seconds to arrive.";
    AuthenticationRequired: "authentication-required", UNAUTHORIZED, "Log in first",
        "The request has no identity, or its identity is not an e-mail address. Open `login_url` in a browser, and log \
         in.";
    IdentityUnproven: "identity-unproven", UNAUTHORIZED, "The request did not come through the auth proxy",
        "The request has an identity, but no valid proxy secret in `X-Auth-Request-Proof`. The service requires this \
         secret, because SERVICE_PROXY_SECRET_FILE is set. Logging in again does not help. Users: open the service at \
         its public address. Administrators: if this also happens at the public address, give the auth proxy and the \
         service the same secret. `launcher doctor` checks the secret.";
    AdminOnly: "admin-only", FORBIDDEN, "Only for administrators",
        "Only admins may manage templates and their images, extend all instances of a template, restart \
         outdated instances, filter the list of instances by owner or template, open the admins' pages, and read the activity log. Admins are the users in SERVICE_ADMIN_EMAILS. Ask \
         an administrator to add your address.";
    CrossSiteRequest: "cross-site-request", FORBIDDEN, "The request comes from another site",
        "A page of another site made the browser send a request that would change something. The service detects this \
         by `Sec-Fetch-Site` or `Origin`. Nothing was changed. Send changes from this site's own pages, or from a \
         program that is not a browser.";
    NotFound: "not-found", NOT_FOUND, "Not found",
        "The resource does not exist, or it belongs to another user. The service answers both cases with exactly the \
         same document. For this reason the document has no `request_id`. Read the header `X-Request-Id` instead.";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED, "The path does not support this method",
        "The header `Allow` lists the supported methods.";
    TemplateInactive: "template-inactive", CONFLICT, "The template is archived",
        "Only admins can launch an archived template, to test it. Users: launch another template, or ask an \
         admin to restore this one.";
    InstanceLimitReached: "instance-limit-reached", CONFLICT, "You have reached your limit of workshops",
        "Each user may have SERVICE_MAX_INSTANCES_PER_USER instances in the states queued, starting, running, \
         suspending and terminating. Admins have no limit. End one of your instances first. A suspending or terminating instance \
         counts until all of its processes or pods have stopped. If you have such an instance, `detail` says so. A \
         suspended or failed instance does not count. A dismissed instance does not count either, even while the service deletes its \
         workload.";
    VolumeInUse: "volume-in-use", CONFLICT, "Another workshop uses these files",
        "Kept files belong to one workshop at a time. `detail` names the workshop that uses them. Continue there, or end \
         it and try again. A suspended workshop holds its files: resume or end it. A terminating workshop uses its files \
         until its workload is gone.";
    StorageLimitReached: "storage-limit-reached", CONFLICT, "Your saved work has reached its limit",
        "The template keeps files, and this user has no volume for it yet. A new volume would exceed \
         SERVICE_MAX_STORAGE_GIB_PER_USER, which counts the sizes of all volumes of the user, whether they are full or \
         not. Delete a volume, or ask an admin. Launches with an existing volume are not refused. Admins have no limit.";
    NotRunning: "not-running", CONFLICT, "The workshop is not running",
        "Only a running instance can be extended, suspended or restarted. Wait until the instance is running, or launch a new one.";
    FilesNotKept: "files-not-kept", CONFLICT, "The workshop's files are not kept",
        "Only an instance whose template has the field `storage` can be suspended. The files of all other instances end \
         with their workload: end the instance instead.";
    NotSuspended: "not-suspended", CONFLICT, "The workshop is not suspended",
        "Only a suspended instance can be resumed. A suspending instance is suspended when its workload is gone: try again \
         after some seconds. If the instance has ended or failed, launch its template again: the launch has its files.";
    NotOutdated: "not-outdated", CONFLICT, "The workshop is not outdated",
        "Only an instance that runs with an older version of sidecar or settings can be restarted: its field `outdated` \
         is true. A repeated request for a restart also gets this error, because a requested restart makes `outdated` \
         false.";
    LifetimeLimitReached: "lifetime-limit-reached", CONFLICT, "The workshop has reached its maximum lifetime",
        "The instance already has the latest possible expiry, which the template's `max_lifetime_seconds` sets. Launch \
         a new instance.";
    ExpiryChanged: "expiry-changed", CONFLICT, "The expiry has changed",
        "`expected_expires_at` differs from the instance's `expires_at`, because another request changed `expires_at` \
         first. This happens, for example, after a double click. Read the instance again.";
    FleetWithoutImages: "fleet-without-images", CONFLICT, "The fleet does not manage images",
        "Only the container fleet (`SERVICE_FLEET=containers`) has the images of templates on its server, and can pull \
         one ahead of a launch. On Kubernetes, each node pulls an image at its first launch there. The local fleet runs \
         no images.";
    FleetWithoutDownloads: "fleet-without-downloads", CONFLICT, "The fleet cannot read kept files",
        "This fleet cannot read kept files without a workshop. Launch a workshop of the template, and download the files \
         there.";
    VersionMismatch: "version-mismatch", PRECONDITION_FAILED, "The template has changed",
        "`If-Match` does not contain the template's current ETag, because another request changed the template. \
         Nothing was changed. Read the template again, and repeat the change.";
    BodyTooLarge: "body-too-large", PAYLOAD_TOO_LARGE, "The body is too large",
        "The limit is 256 KiB for a template, 160 KiB for a launch, 128 KiB for the addresses of a class, 64 KiB for a form \
         of the page with all instances, 8 KiB for the forms of pages that end a workshop or choose a language, and \
         1 KiB for every other body.";
    UnsupportedMediaType: "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The body is not declared as JSON",
        "Send `Content-Type: application/json`.";
    UnknownHost: "unknown-host", MISDIRECTED_REQUEST, "The request is for another host",
        "The host of the request is neither the host of SERVICE_PUBLIC_URL nor a loopback address. Users: open the \
         service at its public address. Administrators: correct SERVICE_PUBLIC_URL, or configure the proxy in front of \
         the service to forward `Host` unchanged. The service does not compare ports. It refuses other hosts to \
         prevent DNS rebinding.";
    InvalidFields: "invalid-fields", UNPROCESSABLE_ENTITY, "Fields of the body are invalid",
        "`errors` lists each invalid, missing or unknown field with its JSON pointer into the body.";
    InvalidParameters: "invalid-parameters", UNPROCESSABLE_ENTITY, "Parameters are invalid",
        "`errors` lists each invalid or unknown query parameter or header. The pointer `/limit` means the parameter \
         `limit`.";
    IdempotencyKeyReused: "idempotency-key-reused", UNPROCESSABLE_ENTITY,
        "This Idempotency-Key was used for another launch",
        "An earlier launch with this key had another template or another body. Use a new key for a new launch.";
    TooManyRequests: "too-many-requests", TOO_MANY_REQUESTS, "Too many of your requests are in flight",
        "Each user may have 64 requests in flight. A request is in flight until the client has read its response. \
         Event streams do not count. `Retry-After` says when to try again.";
    TooManyStreams: "too-many-streams", TOO_MANY_REQUESTS, "Too many event streams are open",
        "Each user may have 32 open event streams. In each browser tab, these pages have one open event stream: the \
         home page, the pages of a workshop, and the page with all instances. Close an event stream or a tab.";
    TooManyDownloads: "too-many-downloads", TOO_MANY_REQUESTS, "Too many downloads are in progress",
        "Each user may have one download of kept files in progress, and all users together 8. `Retry-After` says when to \
         try again.";
    TooManyLaunches: "too-many-launches", TOO_MANY_REQUESTS, "Too many launches in a short time",
        "Each user may launch SERVICE_LAUNCH_RATE workshops per minute. After a pause, each user may launch \
         SERVICE_LAUNCH_BURST workshops at once. Admins have no limit. `Retry-After` says when the next launch is \
         possible. A repeated launch with the same `Idempotency-Key` does not count, because it creates no instance.";
    Internal: "internal", INTERNAL_SERVER_ERROR, "The service had an internal error",
        "Administrators: to find the cause, search the service's log for this `request_id`. Running workshops are not \
         affected.";
    DownloadNotReady: "download-not-ready", SERVICE_UNAVAILABLE, "The files could not be opened in time",
        "On Kubernetes, a pod reads the files. It did not become ready in time: for example, no node had room, or the \
         volume was still attached to another node. The files are not affected. `Retry-After` says when to try again. \
         Administrators: the service's log has the reason.";
    SnapshotsUnavailable: "snapshots-unavailable", SERVICE_UNAVAILABLE, "The saved files cannot be read now",
        "The object store (SERVICE_SNAPSHOT_STORE) does not answer, or this launcher has none. The files are not affected. \
         `Retry-After` says when to try again. Administrators: the service's log has the reason.";
    AtCapacity: "at-capacity", SERVICE_UNAVAILABLE, "Too many workshops are waiting to start",
        "The queue already has SERVICE_MAX_QUEUED instances. `Retry-After` says when to try again.";
    Overloaded: "overloaded", SERVICE_UNAVAILABLE, "The service has too many bytes in flight",
        "Before you repeat a change, read the resource: the change may already have taken effect. Repeat a launch with \
         the same `Idempotency-Key`. `Retry-After` says when to try again. The bodies and responses in flight use all \
         the memory that is reserved for them. The service therefore refused the body of the request, or a large \
         response to the request. If it refused the body, nothing was changed. If it refused the response, the request \
         has taken effect. The error is the same in both cases.";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE, "The service cannot answer right now",
        "The database does not answer, or for an image the container engine does not answer. `Retry-After` says when to \
         try again. Usually nothing was changed. But if the connection to the database broke during a commit, the \
         change may have taken effect. Before you repeat a change, read the resource. To repeat a launch safely, use \
         the same `Idempotency-Key`.";
}

impl ProblemCode {
    /// Returns the code in responses, in kebab-case.
    pub(crate) fn as_str(self) -> &'static str {
        self.entry().code
    }

    /// Returns the status of the response.
    pub(crate) fn status(self) -> StatusCode {
        self.entry().status
    }

    /// Returns the short title.
    pub(crate) fn title(self) -> &'static str {
        self.entry().title
    }

    /// Returns the default retry delay in seconds, for temporary problems. A [`super::Problem`] can override it.
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
