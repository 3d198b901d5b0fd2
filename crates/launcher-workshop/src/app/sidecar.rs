//! User, limits, environment, ports and probes of the sidecar's container, and capabilities of the app's container. The
//! app's container has no probes, because the sidecar is ready only while the app accepts connections.

use std::collections::BTreeMap;
use std::time::Duration;

use launcher_domain::EmailAddress;
use launcher_domain::brand::Brand;

/// User ID of the sidecar. The stock app images have no user with this ID.
pub const SIDECAR_USER: u32 = 65532;
/// CPU and memory requests of the sidecar.
pub const SIDECAR_REQUESTS: [&str; 2] = ["5m", "16Mi"];
/// CPU and memory limits of the sidecar. `launcher-sidecar/src/memory.rs` calculates the sidecar's maximum memory use.
/// A test there reads this line and checks that the limit is larger.
pub const SIDECAR_LIMITS: [&str; 2] = ["1", "256Mi"];
/// Capabilities of an app with the profile `baseline`: stock images need them to switch from root to an unprivileged
/// user. Pod Security `baseline` allows them.
pub const BASELINE_CAPABILITIES: [&str; 7] = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID"];

/// Settings of one workshop's sidecar that every fleet with containers passes to it.
#[derive(Debug, Clone, Copy)]
pub struct SidecarSpec<'a> {
    /// E-mail address of the owner, the only user that the sidecar admits.
    pub owner: &'a EmailAddress,
    /// Port of the app on the loopback address.
    pub app_port: u16,
    /// True if only the owner has access. False admits every request, for development only.
    pub require_authentication: bool,
    /// Header with the caller's identity.
    pub trusted_header: &'a str,
    /// Name prefix of the auth proxy's cookies, which the sidecar removes.
    pub session_cookie_prefix: &'a str,
    /// Path and query of the app's first page; `None` for `/`.
    pub start_path: Option<&'a str>,
    /// True if the app's pages in tabs of their own have no bar.
    pub plain_tabs: bool,
    /// True for a workshop of a class.
    pub in_class: bool,
    /// Path of the file with the expiry, in the sidecar's container.
    pub expiry_file: &'a str,
    /// Path of the file with the last crash of the app, in the sidecar's container.
    pub last_crash_file: &'a str,
    /// URL of the launcher's page of this workshop; `None` for no links to it.
    pub workshop_page: Option<&'a str>,
    /// Name of the course; `None` for no name.
    pub course: Option<&'a str>,
    /// The brand of the installation.
    pub brand: &'a Brand,
}

impl SidecarSpec<'_> {
    /// Returns the environment variables of the sidecar.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let page = self.workshop_page.map(|url| ("SERVICE_WORKSHOP_PAGE_URL", url.to_owned()));
        let course = self.course.map(|name| ("SERVICE_COURSE", name.to_owned()));
        let start_path = self.start_path.map(|path| ("SERVICE_START_PATH", path.to_owned()));
        let plain_tabs = self.plain_tabs.then(|| ("SERVICE_PLAIN_TABS", true.to_string()));
        let in_class = self.in_class.then(|| ("SERVICE_IN_CLASS", true.to_string()));
        let name = self.brand.name().map(|name| ("SERVICE_BRAND_NAME", name.to_owned()));
        let color = self.brand.color.map(|color| ("SERVICE_BRAND_COLOR", color.to_string()));
        [
            ("SERVICE_OWNER_EMAIL", self.owner.to_string()),
            ("SERVICE_APP_PORT", self.app_port.to_string()),
            ("SERVICE_REQUIRE_AUTHENTICATION", self.require_authentication.to_string()),
            ("SERVICE_TRUSTED_AUTH_HEADER", self.trusted_header.to_owned()),
            ("SERVICE_SESSION_COOKIE_PREFIX", self.session_cookie_prefix.to_owned()),
            ("SERVICE_EXPIRY_FILE", self.expiry_file.to_owned()),
            ("SERVICE_LAST_CRASH_FILE", self.last_crash_file.to_owned()),
        ]
        .into_iter()
        .chain(page)
        .chain(course)
        .chain(start_path)
        .chain(plain_tabs)
        .chain(in_class)
        .chain(name)
        .chain(color)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// Port on which the sidecar serves the owner's requests.
pub const SIDECAR_PORT: u16 = 8080;
/// Port on which the sidecar serves probes and metrics.
pub const TELEMETRY_PORT: u16 = 8081;

/// A probe: an HTTP GET on [`TELEMETRY_PORT`]. It succeeds if the status is 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpProbe {
    /// Path of the request.
    pub path: &'static str,
    /// Interval of the requests.
    pub period: Duration,
    /// Maximum time of one request.
    pub timeout: Duration,
    /// Number of consecutive failures after which Kubernetes treats the container as not ready or not alive.
    pub failure_threshold: u16,
}

/// Readiness probe. It succeeds while the sidecar serves and the app accepts connections. Its period is short, because
/// the owner waits for the result.
pub const READINESS: HttpProbe = HttpProbe {
    path: "/readyz",
    period: Duration::from_secs(1),
    timeout: Duration::from_secs(2),
    failure_threshold: 3,
};

/// Liveness probe. It succeeds while the sidecar's process answers.
pub const LIVENESS: HttpProbe = HttpProbe {
    path: "/healthz",
    period: Duration::from_secs(20),
    timeout: Duration::from_secs(2),
    failure_threshold: 3,
};
