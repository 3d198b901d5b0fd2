//! The controller: reconciles a Workshop after each change of it or its resources, with a limited concurrency.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use kube::runtime::{Config, Controller, WatchStreamExt, controller, reflector, watcher};
use kube::{Api, Resource};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use crate::children::{Watches, prune, report_relists, watch};
use crate::context::Context;
use crate::guarded::Guarded;
use crate::orphans;
use crate::reconcile::{reconcile, retry};

/// Interval of counting the Workshops by phase, for the metrics.
const COUNT: Duration = Duration::from_secs(15);

/// Error of the controller: its stream of reconciles ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the Workshop watch ended unexpectedly")]
pub(crate) struct ControllerError;

/// Reconciles Workshops until the future is dropped. Returns only if the stream of reconciles ends unexpectedly.
pub(crate) async fn run(context: Arc<Context>, watches: Watches) -> ControllerError {
    let (client, namespace) = (context.client.clone(), context.settings.namespace.clone());
    let (reader, writer) = reflector::store();
    let (relisted, mut relists) = mpsc::channel(1);
    let workshops = watcher(Api::<Guarded>::namespaced(client.clone(), &namespace), watch())
        .modify(|object| prune::workshop(object.meta_mut()))
        .default_backoff()
        .reflect(writer)
        .inspect(report_relists(relisted.clone()))
        .touched_objects();
    let (services, ingresses, pods) = watches.streams(&client, &namespace, context.disrupted_pods.clone(), &relisted);
    let outcomes = Controller::for_stream(workshops, reader.clone())
        .owns_stream(services)
        .owns_stream(ingresses)
        .reconcile_on(pods)
        .reconcile_all_on(poll_fn(move |wakes| relists.poll_recv(wakes)))
        .with_config(Config::default().concurrency(context.settings.concurrency))
        .run(reconcile, retry, context.clone());
    let mut outcomes = std::pin::pin!(outcomes);
    // Workshops that are gone, by their names.
    let (gone, mut queue) = mpsc::unbounded_channel::<String>();
    let removals = poll_fn(move |wakes| queue.poll_recv(wakes))
        .for_each_concurrent(context.settings.concurrency as usize, async |name| {
            orphans::remove(&context, &name).await
        });
    let mut removals = std::pin::pin!(removals);
    let mut count = interval(COUNT);
    count.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            outcome = outcomes.next() => match outcome {
                None => return ControllerError,
                Some(Ok((object, _))) => tracing::trace!(workshop = %object.name, "reconciled Workshop"),
                Some(Err(controller::Error::ObjectNotFound(object))) => {
                    context.forget(&object.name);
                    // The receiver lives as long as this loop.
                    drop(gone.send(object.name));
                }
                Some(Err(error)) => note(&error),
            },
            () = &mut removals => return ControllerError,
            _ = count.tick() => {
                let workshops = reader.state();
                context.metrics.set_workshop_counts(workshops.iter().map(|one| phase(one)));
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
