//! Shared dependencies of all reconciles.

use std::sync::Arc;

use kube::Client;
use kube::runtime::events::Reporter;
use launcher_domain::Clock;

use crate::apply::Ledger;
use crate::backoff::Backoff;
use crate::children::Children;
use crate::lease::Fence;
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;
use crate::since::Since;

/// Shared dependencies of all reconciles, for the duration of one leadership.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) settings: Arc<OperatorSettings>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Metrics,
    pub(crate) reporter: Reporter,
    pub(crate) fence: Fence,
    pub(crate) children: Children,
    pub(crate) ledger: Ledger,
    pub(crate) backoff: Backoff,
    /// When an image pull was first seen to fail.
    pub(crate) pull_fails: Since,
    /// When the API server first refused an apply.
    pub(crate) refused: Since,
}

impl Context {
    /// Forgets a Workshop that was terminated or is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.backoff.forget(name);
        self.ledger.forget(name);
        self.pull_fails.forget(name);
        self.refused.forget(name);
    }
}
