//! The operator as a process part: stand by, lead, give back.

use std::sync::{Arc, Mutex, PoisonError};

use kube::Client;
use kube::runtime::events::Reporter;
use launcher_domain::{Clock, Entropy};
use launcher_process::stop::Stop;

use crate::apply::Ledger;
use crate::backoff::Backoff;
use crate::children::Children;
use crate::context::Context;
use crate::controller;
use crate::lease::{Election, Fence};
use crate::metrics::Metrics;
use crate::settings::OperatorSettings;
use crate::since::Since;

/// An operator that is about to run.
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
    /// An operator for the cluster that the client speaks to; `host` tells its log lines and its Lease from others'.
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

    /// What it measures, to be registered.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Whether it leads or stands by.
    ///
    /// # Errors
    /// Why it does neither: the API server did not answer.
    pub fn ready(&self) -> Result<(), String> {
        self.contact.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
            ledger: Ledger::default(),
            backoff: Backoff::default(),
            pull_fails: Since::default(),
            refused: Since::default(),
        }
    }
}

/// Runs the operator until it is told to stop: stands by until it leads, reconciles while it does, and starts over when it
/// does not any more.
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
    let contact = |result| *operator.contact.lock().unwrap_or_else(PoisonError::into_inner) = result;
    loop {
        let fence = tokio::select! {
            fence = election.won(contact) => fence,
            () = stop.requested() => return,
        };
        tracing::info!(identity = %operator.identity, namespace = %settings.namespace, "leading");
        operator.metrics.leading(true);
        let (children, watches) = Children::new();
        let context = Arc::new(operator.context(&fence, children));
        // Whatever ends first drops the others: reconciles under way are aborted with the controller.
        let stopped = tokio::select! {
            error = controller::run(context, watches) => {
                tracing::error!(%error, "reconciling again from the start");
                false
            }
            () = election.lost(&fence) => {
                tracing::warn!("leadership was lost: standing by");
                false
            }
            () = stop.requested() => true,
        };
        operator.metrics.leading(false);
        election.release(&fence).await;
        if stopped {
            return;
        }
    }
}
