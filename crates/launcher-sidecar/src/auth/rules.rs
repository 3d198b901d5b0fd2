//! The access policy, prepared for the checks of each request, with counters of violations.

use std::net::SocketAddr;

use launcher_domain::identity::IdentityError;
use prometheus_client::metrics::counter::Counter;

use crate::auth::cookies::LoginCookies;
use crate::auth::policy::Policy;
use crate::metrics::Metrics;

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
    mismatches: Counter,
    unproven: Counter,
}

impl Rules {
    /// Prepares `policy` for the app at address `app`. Violations increase counters of `metrics`.
    pub(crate) fn new(policy: Policy, app: SocketAddr, metrics: &Metrics) -> Self {
        Self {
            login_cookies: LoginCookies::new(&policy.session_cookie_prefix),
            policy,
            app_name: app.to_string(),
            mismatches: metrics.mismatches(),
            unproven: metrics.unproven(),
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
