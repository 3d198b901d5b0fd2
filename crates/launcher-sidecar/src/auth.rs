//! Access control: the access policy, its proxy secrets, and its preparation for the checks of each request.

pub(crate) mod authorization;
pub(crate) mod cookies;

use std::net::SocketAddr;
use std::path::Path;

use launcher_domain::email::EmailAddress;
use launcher_domain::identity::{IdentityError, ProxySecret, TrustedHeader};
use launcher_domain::local_path::LocalPath;
use launcher_process::follow;
use prometheus_client::metrics::counter::Counter;

use crate::auth::cookies::LoginCookies;
use crate::frame::Frame;
use crate::metrics::Metrics;

/// The access policy that a sidecar enforces.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The only person whose requests reach the app. With `None`, no caller is the owner.
    pub owner: Option<EmailAddress>,
    /// Header with the caller's identity. The auth proxy sets it.
    pub trusted_header: TrustedHeader,
    /// With `false`, requests with a wrong or missing identity are logged and forwarded, instead of refused.
    pub require_authentication: bool,
    /// Name prefix of the login proxy's cookies. The sidecar removes these cookies from requests and responses. An
    /// empty prefix matches every cookie.
    pub session_cookie_prefix: String,
    /// Valid proxy secrets. Each request must carry one of them in `X-Auth-Request-Proof`. With `None`, requests need
    /// no proxy secret.
    pub proxy_secret: Option<ProxySecret>,
}

impl Policy {
    /// Default name prefix of the login proxy's cookies.
    pub const SESSION_COOKIE_PREFIX: &str = "_oauth2_proxy";

    /// Creates a policy that admits no request, for addresses without a workshop. All other fields have their defaults.
    #[must_use]
    pub fn without_owner() -> Self {
        Self {
            owner: None,
            trusted_header: TrustedHeader::default(),
            require_authentication: true,
            session_cookie_prefix: Self::SESSION_COOKIE_PREFIX.to_owned(),
            proxy_secret: None,
        }
    }
}

/// Maximum number of warnings of each type: wrong identity, and wrong proxy secret. Further events are logged at debug
/// level, so that a client cannot flood the log.
const WARNINGS: u64 = 10;

/// The access policy, prepared for the checks of each request, with counters of violations.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) login_cookies: LoginCookies,
    /// Host header for the app if the client sends none.
    pub(crate) app_name: String,
    pub(crate) app_port: u16,
    /// Path of the app's first page, if the sidecar shows the app's pages in tabs with the bar.
    pub(crate) framed_start: Option<LocalPath>,
    mismatches: Counter,
    unproven: Counter,
}

impl Rules {
    /// Prepares `policy` for the app at address `app`. Violations increase counters of `metrics`.
    pub(crate) fn new(policy: Policy, app: SocketAddr, frame: &Frame, metrics: &Metrics) -> Self {
        Self {
            login_cookies: LoginCookies::new(&policy.session_cookie_prefix),
            policy,
            app_name: app.to_string(),
            app_port: app.port(),
            framed_start: (!frame.plain_tabs).then(|| frame.start_path.clone()),
            mismatches: metrics.mismatches.clone(),
            unproven: metrics.unproven.clone(),
        }
    }

    /// Counts a request whose identity has no valid proxy secret. Returns true for the first [`WARNINGS`] requests: the
    /// caller logs a warning for each of them.
    pub(crate) fn count_unproven(&self) -> bool {
        self.unproven.inc() < WARNINGS
    }

    /// Counts and logs a request that is forwarded only because authentication is not required. `error` is the reason
    /// why the identity is invalid. `None` means that the identity is valid, but is not the owner's.
    pub(crate) fn report_mismatch(&self, error: Option<IdentityError>) {
        let before = self.mismatches.inc();
        let reason = error.map_or_else(|| "the identity is not the owner's".to_owned(), |error| error.to_string());
        if before < WARNINGS {
            tracing::warn!(reason, "forwarding request without the owner's identity: authentication is not required");
        } else {
            tracing::debug!(reason, "forwarding request without the owner's identity");
        }
    }
}

/// Reads the proxy secrets from the file of `SERVICE_PROXY_SECRET_FILE`. The file has one or two of them, one per line.
///
/// # Errors
/// Returns one line that names the setting, the file and the remedy. It never contains the file's content.
pub async fn load_proxy_secret(path: &Path) -> Result<ProxySecret, String> {
    let named = format!("SERVICE_PROXY_SECRET_FILE {}", path.display());
    let text = follow::read(path).await.map_err(|error| {
        format!("{named} cannot be read: {error}; write the auth proxy's secret to it, or unset the setting")
    })?;
    ProxySecret::parse(&text).map_err(|error| format!("{named} has no usable secret: {error}"))
}

/// Replaces the proxy secrets whenever the file changes. Never returns.
pub async fn follow_proxy_secret(path: &Path, secret: &ProxySecret) {
    follow::follow(path, "proxy secret", |text| secret.replace(text)).await;
}
