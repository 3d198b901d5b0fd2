//! The context: dependencies and in-memory state that all reconciles share.

use std::sync::Arc;

use kube::Client;
use kube::runtime::events::Reporter;
use launcher_domain::Clock;

use crate::apply_cache::ApplyCache;
use crate::backoff::Backoff;
use crate::children::Children;
use crate::disrupted_pods::DisruptedPods;
use crate::first_seen::FirstSeen;
use crate::lease::Fence;
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;
use crate::volume_users::VolumeUsers;

/// Dependencies and in-memory state that all reconciles share. A new leadership begins with a new context.
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
    /// Time at which the operator first saw a failed image pull, for each Workshop.
    pub(crate) pull_failures: FirstSeen,
    /// Time at which the API server first refused an apply, for each Workshop.
    pub(crate) refusals: FirstSeen,
    /// Time at which a Workshop began to wait for its volume, which the pod of another Workshop has.
    pub(crate) volume_waits: FirstSeen,
    /// Time at which the operator first saw a step of the start that the status lacks, for each Workshop.
    pub(crate) unreported_steps: FirstSeen,
    /// Pods that the cluster has disrupted.
    pub(crate) disrupted_pods: Arc<DisruptedPods>,
    /// Workshops with volumes.
    pub(crate) volume_users: VolumeUsers,
}

impl Context {
    /// Removes the in-memory state of a Workshop whose workload is deleted.
    pub(crate) fn forget(&self, name: &str) {
        self.backoff.forget(name);
        self.apply_cache.forget(name);
        self.pull_failures.forget(name);
        self.forget_refusals(name);
        self.unreported_steps.forget(name);
        self.disrupted_pods.forget(name);
        self.volume_users.forget(name);
    }

    /// Ends the grace periods of refused applies.
    pub(crate) fn forget_refusals(&self, name: &str) {
        self.refusals.forget(name);
        self.volume_waits.forget(name);
    }
}
