//! Refuses identity headers without a valid proxy secret. Limits the number of warnings in the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::problem::{Problem, ProblemCode};

/// Number of refusals that are logged as warnings. Later refusals are logged at the level debug.
const WARNINGS: u64 = 10;

/// Counts the requests that this process has refused because of the proxy secret. Clones share the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnprovenLog(Arc<AtomicU64>);

impl UnprovenLog {
    /// Logs the refusal of one request, and returns the problem. The log entry contains neither the identity nor the
    /// secret. The request's span contains the request id and the path.
    pub(crate) fn refuse(&self) -> Problem {
        let refused = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if refused <= WARNINGS {
            tracing::warn!(
                refused,
                "refused identity header without valid X-Auth-Request-Proof: the request bypassed the auth proxy, or \
                 the auth proxy sends a secret that is not in SERVICE_PROXY_SECRET_FILE"
            );
        } else {
            tracing::debug!(refused, "refused identity header without valid X-Auth-Request-Proof");
        }
        let detail = "The request has an identity, but it did not come through the auth proxy: X-Auth-Request-Proof is \
                      missing or wrong. Use the service's public address. If you already did, the auth proxy and the \
                      service have different proxy secrets. `launcher doctor` checks this.";
        Problem::new(ProblemCode::IdentityUnproven, detail)
    }
}
