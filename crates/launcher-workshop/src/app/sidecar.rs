//! User, limits and environment of the sidecar's container, and capabilities of the app's container.

use std::collections::BTreeMap;

use launcher_domain::EmailAddress;

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
    /// Path of the file with the expiry, in the sidecar's container.
    pub expiry_file: &'a str,
    /// Path of the file with the last crash of the app, in the sidecar's container.
    pub last_crash_file: &'a str,
    /// URL of the launcher's page of this workshop; `None` for no links to it.
    pub workshop_page: Option<&'a str>,
}

impl SidecarSpec<'_> {
    /// Returns the environment variables of the sidecar.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let page = self.workshop_page.map(|url| ("SERVICE_WORKSHOP_PAGE_URL", url.to_owned()));
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
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}
