//! The operator's main loop: waits until it leads, reconciles while it leads, and releases the Lease.

use std::sync::{Arc, Mutex};

use kube::Client;
use kube::runtime::events::Reporter;
use launcher_domain::sync::lock;
use launcher_domain::{Clock, Entropy};
use launcher_process::stop::Stop;

use crate::apply_cache::ApplyCache;
use crate::backoff::Backoff;
use crate::children::Children;
use crate::context::Context;
use crate::controller;
use crate::downloads;
use crate::first_seen::FirstSeen;
use crate::lease::{Election, Fence};
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;
use crate::volume_users::VolumeUsers;

/// The operator with its settings and dependencies. [`run`] starts it.
#[derive(Clone)]
pub struct Operator {
    client: Client,
    settings: Arc<OperatorSettings>,
    clock: Arc<dyn Clock>,
    identity: String,
    metrics: Metrics,
    contact: Arc<Mutex<Result<(), String>>>,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Operator {
    /// Creates an operator for the client's cluster. `host` is a part of the operator's identity in logs and in the
    /// Lease.
    #[must_use]
    pub fn new(
        client: Client,
        settings: OperatorSettings,
        host: &str,
        clock: Arc<dyn Clock>,
        entropy: &dyn Entropy,
    ) -> Self {
        let mut random = [0_u8; 4];
        entropy.fill(&mut random);
        let identity = format!("{host}_{:08x}", u32::from_be_bytes(random));
        let contact = Arc::new(Mutex::new(Err("the API server has not answered yet".to_owned())));
        Self { client, settings: Arc::new(settings), clock, identity, metrics: Metrics::default(), contact }
    }

    /// Returns the operator's metrics, which the caller registers.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Succeeds if the operator is ready: its last attempt to acquire the Lease succeeded, or another operator holds
    /// it.
    ///
    /// # Errors The message says that the operator could not read or write the Lease, or that no attempt has finished
    /// yet.
    pub fn ready(&self) -> Result<(), String> {
        lock(&self.contact).clone()
    }

    fn context(&self, fence: &Fence, children: Children) -> Context {
        Context {
            client: self.client.clone(),
            settings: self.settings.clone(),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
            reporter: Reporter { controller: "workshop-operator".to_owned(), instance: Some(self.identity.clone()) },
            fence: fence.clone(),
            children,
            apply_cache: ApplyCache::default(),
            backoff: Backoff::default(),
            pull_failures: FirstSeen::default(),
            refusals: FirstSeen::default(),
            volume_waits: FirstSeen::default(),
            unreported_steps: FirstSeen::default(),
            disrupted_pods: Arc::default(),
            volume_users: VolumeUsers::default(),
        }
    }
}

/// Runs the operator until `stop` is requested. The operator stands by until it leads, and reconciles while it leads.
/// After it has lost the leadership, it stands by again.
pub async fn run(operator: Operator, stop: Stop) {
    let settings = &operator.settings;
    let election = Election::new(
        &operator.client,
        &settings.namespace,
        &settings.lease_name,
        &operator.identity,
        settings.lease_duration,
        operator.clock.clone(),
    );
    let contact = |result| *lock(&operator.contact) = result;
    loop {
        let fence = tokio::select! {
            fence = election.acquire(contact) => fence,
            () = stop.requested() => return,
        };
        tracing::info!(identity = %operator.identity, namespace = %settings.namespace, "started leading");
        operator.metrics.set_leading(true);
        let (children, watches) = Children::new();
        let context = Arc::new(operator.context(&fence, children));
        // The first branch to finish drops the others. Dropping the controller aborts its in-flight reconciles.
        let stopped = tokio::select! {
            () = downloads::run(context.clone()) => false,
            error = controller::run(context, watches) => {
                tracing::error!(%error, "controller ended unexpectedly, releasing the Lease and restarting");
                false
            }
            () = election.renew_until_lost(&fence) => {
                tracing::warn!("lost leadership, standing by");
                false
            }
            () = stop.requested() => true,
        };
        operator.metrics.set_leading(false);
        election.release(&fence).await;
        if stopped {
            return;
        }
    }
}
