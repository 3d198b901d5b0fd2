//! Shared dependencies of all reconciles.

use std::sync::Arc;

use kube::Client;
use kube::runtime::events::Reporter;
use launcher_domain::Clock;

use crate::apply::ApplyCache;
use crate::backoff::Backoff;
use crate::children::Children;
use crate::first_seen::FirstSeen;
use crate::lease::Fence;
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;

/// Shared dependencies of all reconciles, for the duration of one leadership.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) settings: Arc<OperatorSettings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) reporter: Reporter,
    pub(crate) fence: Fence,
    pub(crate) children: Children,
    pub(crate) apply_cache: ApplyCache,
    pub(crate) backoff: Backoff,
    /// When an image pull was first seen to fail.
    pub(crate) pull_failures: FirstSeen,
    /// When the API server first refused an apply.
    pub(crate) refusals: FirstSeen,
}

impl Context {
    /// Drops the in-memory state (backoff, ledger, first failures) of a Workshop that was terminated or is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.backoff.forget(name);
        self.apply_cache.forget(name);
        self.pull_failures.forget(name);
        self.refusals.forget(name);
    }
}
