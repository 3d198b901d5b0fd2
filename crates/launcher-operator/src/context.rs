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
use crate::pulls::Pulls;
use crate::settings::OperatorSettings;

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
    pub(crate) pulls: Pulls,
}
