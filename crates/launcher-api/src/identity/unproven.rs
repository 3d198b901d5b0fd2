//! Identity headers without the proxy secret: refused, and logged without flooding the log.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::problem::{Problem, ProblemCode};

/// Number of refusals logged as warnings. Later ones are debug entries.
const WARNINGS: u64 = 10;

/// Counts this process's refused requests.
#[derive(Debug, Default)]
pub(crate) struct UnprovenLog(AtomicU64);

impl UnprovenLog {
    /// Logs and returns the refusal of one request. The entry contains neither the identity nor the secret; request id
    /// and path are in the request's span.
    pub(crate) fn refuse(&self) -> Problem {
        let refused = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let message = "refused identity header without valid X-Auth-Request-Proof: the request bypassed the auth proxy, or \
                       the auth proxy sends a secret that is not in SERVICE_PROXY_SECRET_FILE";
        if refused <= WARNINGS {
            tracing::warn!(refused, "{message}");
        } else {
            tracing::debug!(refused, "{message}");
        }
        let detail = "The request names a person, but did not come through the auth proxy: X-Auth-Request-Proof is missing \
                      or wrong. Use the service's public address. If you did, the auth proxy and the service do not have \
                      the same proxy secret; `launcher doctor` checks it.";
        Problem::new(ProblemCode::IdentityUnproven, detail)
    }
}
