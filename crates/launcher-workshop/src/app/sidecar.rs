//! User, limits, environment, ports and probes of the sidecar's container, and capabilities of the app's container. The
//! app's container has no probes, because the sidecar is ready only while the app accepts connections.

use std::collections::BTreeMap;
use std::time::Duration;

use launcher_domain::brand::Brand;

use super::spec::ValidSpec;
use crate::spec::WorkshopSpec;

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

/// Name of the file with the expiry, in the folder with the sidecar's files.
pub const EXPIRY_FILE: &str = "expires-at";
/// Name of the file with the last crash of the app, in the same folder.
pub const LAST_CRASH_FILE: &str = "last-crash";

/// Settings of one workshop's sidecar that every fleet with containers passes to it.
#[derive(Debug, Clone, Copy)]
pub struct SidecarSpec<'a> {
    pub spec: &'a ValidSpec,
    /// True if only the owner has access. False admits every request, for development only.
    pub require_authentication: bool,
    /// Header with the caller's identity.
    pub trusted_header: &'a str,
    /// Name prefix of the auth proxy's cookies, which the sidecar removes.
    pub session_cookie_prefix: &'a str,
    /// Path of the folder with [`EXPIRY_FILE`] and [`LAST_CRASH_FILE`], in the sidecar's container.
    pub folder: &'a str,
    /// URL of the launcher's page of this workshop; `None` for no links to it.
    pub workshop_page: Option<&'a str>,
    pub brand: &'a Brand,
}

impl SidecarSpec<'_> {
    /// Returns the environment variables of the sidecar. Only settings that differ from its defaults have one.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let WorkshopSpec { port, course, start_path, plain_tabs, in_class, .. } = &**self.spec;
        let own = [
            ("SERVICE_OWNER_EMAIL", self.spec.owner.to_string()),
            ("SERVICE_APP_PORT", port.to_string()),
            ("SERVICE_REQUIRE_AUTHENTICATION", self.require_authentication.to_string()),
            ("SERVICE_TRUSTED_AUTH_HEADER", self.trusted_header.to_owned()),
            ("SERVICE_SESSION_COOKIE_PREFIX", self.session_cookie_prefix.to_owned()),
            ("SERVICE_EXPIRY_FILE", format!("{}/{EXPIRY_FILE}", self.folder)),
            ("SERVICE_LAST_CRASH_FILE", format!("{}/{LAST_CRASH_FILE}", self.folder)),
        ];
        let optional = [
            ("SERVICE_WORKSHOP_PAGE_URL", self.workshop_page.map(str::to_owned)),
            ("SERVICE_COURSE", course.clone()),
            ("SERVICE_START_PATH", start_path.clone()),
            ("SERVICE_PLAIN_TABS", plain_tabs.then(|| true.to_string())),
            ("SERVICE_IN_CLASS", in_class.then(|| true.to_string())),
            ("SERVICE_BRAND_NAME", self.brand.name().map(str::to_owned)),
            ("SERVICE_BRAND_COLOR", self.brand.color.map(|color| color.to_string())),
        ];
        let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
        own.into_iter().chain(optional).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Port on which the sidecar serves the owner's requests.
pub const SIDECAR_PORT: u16 = 8080;
/// Port on which the sidecar serves probes and metrics.
pub const TELEMETRY_PORT: u16 = 8081;

/// A probe: an HTTP GET on [`TELEMETRY_PORT`]. It succeeds if the status is 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpProbe {
    pub path: &'static str,
    pub period: Duration,
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
