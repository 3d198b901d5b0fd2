//! What every reconcile needs.

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

/// What every reconcile needs; it lives as long as one leadership.
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
    /// Since when an image fails to be pulled.
    pub(crate) pull_fails: Since,
    /// Since when the API server does not take what is wanted.
    pub(crate) refused: Since,
}

impl Context {
    /// Forgets a Workshop that has ended or is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.backoff.forget(name);
        self.ledger.forget(name);
        self.pull_fails.forget(name);
        self.refused.forget(name);
    }
}
