//! The operator's main loop: waits until it leads, reconciles while it leads, and releases the Lease.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::select_all;
use futures_util::stream::poll_fn;
use futures_util::{FutureExt, StreamExt};
use kube::runtime::events::Reporter;
use kube::runtime::{Config, Controller, WatchStreamExt, controller, reflector, watcher};
use kube::{Api, Client, Resource};
use launcher_domain::clock::random_hex;
use launcher_domain::sync::lock;
use launcher_domain::{Clock, Entropy};
use launcher_process::stop::Stop;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::apply::deletion::remove_orphans;
use crate::cache::{Guarded, report_relists, watch};
use crate::children::{Children, Watches, prune_workshop};
use crate::context::Context;
use crate::downloads;
use crate::lease::{Election, Fence};
use crate::metrics::{Metrics, WorkshopCounts};
use crate::reconcile::{reconcile, retry};
use crate::settings::OperatorSettings;

/// Interval of counting the Workshops by phase, for the metrics.
const COUNT: Duration = Duration::from_secs(15);

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
        let identity = format!("{host}_{}", random_hex::<4>(entropy));
        let contact = Arc::new(Mutex::new(Err("the API server has not answered yet".to_owned())));
        Self { client, settings: Arc::new(settings), clock, identity, metrics: Metrics::default(), contact }
    }

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

    fn context(&self, settings: OperatorSettings, fence: &Fence, children: Children) -> Context {
        Context {
            client: self.client.clone(),
            settings: Arc::new(settings),
            clock: self.clock.clone(),
            metrics: self.metrics.clone(),
            reporter: Reporter { controller: "workshop-operator".to_owned(), instance: Some(self.identity.clone()) },
            fence: fence.clone(),
            children,
            memory: Arc::default(),
        }
    }
}

/// Runs the operator until `stop` is requested. The operator stands by until it leads, and reconciles while it leads.
/// After it has lost the leadership, it stands by again.
pub async fn run(operator: Operator, stop: Stop) {
    let settings = &operator.settings;
    let election = Election {
        leases: Api::namespaced(operator.client.clone(), &settings.namespace),
        name: settings.lease_name.clone(),
        identity: operator.identity.clone(),
        duration: settings.lease_duration,
        clock: operator.clock.clone(),
    };
    let contact = |result| *lock(&operator.contact) = result;
    loop {
        let fence = tokio::select! {
            fence = election.acquire(contact) => fence,
            () = stop.requested() => return,
        };
        tracing::info!(identity = %operator.identity, namespace = %settings.namespace, "started leading");
        operator.metrics.set_leading(true);
        // Each namespace has its own context and watches: one that cannot be reached does not delay the others.
        let controllers = settings.by_namespace().map(|settings| {
            let (children, watches) = Children::new();
            let context = Arc::new(operator.context(settings, &fence, children));
            async move {
                tokio::select! {
                    () = reconcile_workshops(context.clone(), watches) => {}
                    () = downloads::run(context) => {}
                }
            }
            .boxed()
        });
        // The first branch to finish drops the others. Dropping a controller aborts its in-flight reconciles.
        let stopped = tokio::select! {
            _ = select_all(controllers) => {
                let error = "the Workshop watch ended unexpectedly";
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

/// Reconciles each Workshop after a change of it or its resources, with a limited concurrency, until the future is dropped.
/// Returns only if the stream of reconciles ends unexpectedly.
async fn reconcile_workshops(context: Arc<Context>, watches: Watches) {
    let (client, namespace) = (context.client.clone(), context.settings.namespace.clone());
    let (reader, writer) = reflector::store();
    let (relisted, mut relists) = mpsc::channel(1);
    let workshops = watcher(Api::<Guarded>::namespaced(client.clone(), &namespace), watch())
        .modify(|object| prune_workshop(object.meta_mut()))
        .default_backoff()
        .reflect(writer)
        .inspect(report_relists(relisted.clone()))
        .touched_objects();
    let touched = watches.streams(&client, &namespace, context.memory.clone(), &relisted);
    let outcomes = Controller::for_stream(workshops, reader.clone())
        .reconcile_on(touched)
        .reconcile_all_on(poll_fn(move |wakes| relists.poll_recv(wakes)))
        .with_config(Config::default().concurrency(context.settings.concurrency))
        .run(reconcile, retry, context.clone());
    let mut outcomes = std::pin::pin!(outcomes);
    // Workshops that are gone, by their names.
    let (gone, mut queue) = mpsc::unbounded_channel::<String>();
    let removals = poll_fn(move |wakes| queue.poll_recv(wakes))
        .for_each_concurrent(context.settings.concurrency as usize, async |name| remove_orphans(&context, &name).await);
    let mut removals = std::pin::pin!(removals);
    let mut counted = WorkshopCounts::default();
    let mut count = interval(COUNT);
    count.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            outcome = outcomes.next() => match outcome {
                None => return,
                Some(Ok((object, _))) => tracing::trace!(workshop = %object.name, "reconciled Workshop"),
                Some(Err(controller::Error::ObjectNotFound(object))) => {
                    context.memory.forget_name(&object.name);
                    // The receiver lives as long as this loop.
                    drop(gone.send(object.name));
                }
                Some(Err(error)) => note(&error),
            },
            () = &mut removals => return,
            _ = count.tick() => {
                let workshops = reader.state();
                context.metrics.set_workshop_counts(&mut counted, workshops.iter().map(|one| phase(one)));
            }
        }
    }
}

fn phase(object: &Guarded) -> launcher_workshop::Phase {
    let status = object.0.as_ref().ok().and_then(|workshop| workshop.status.as_ref());
    status.map(|status| status.phase).unwrap_or_default()
}

fn note<E: std::error::Error>(error: &controller::Error<E, watcher::Error>) {
    match error {
        // The function `retry` has already logged a failed reconcile. The loop handles a Workshop that is gone.
        controller::Error::ReconcilerFailed(..) | controller::Error::ObjectNotFound(_) => {}
        controller::Error::QueueError(error) => {
            tracing::warn!(%error, "watching Workshops or their resources failed, retrying")
        }
        controller::Error::RunnerError(error) => tracing::error!(%error, "scheduling reconciles failed"),
    }
}
