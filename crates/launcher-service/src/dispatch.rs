//! Dispatch: from rows to Workshop specs.
//!
//! Level-triggered: each round asks the database which rows the fleet has not been told of and tells it. It runs after
//! each change and as a sweep, on any number of replicas: applying twice does no harm.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::StreamExt;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{FailureCode, FailureReason, Instance, InstanceState};
use launcher_fleet::{Deletion, FleetError};
use launcher_workshop::{ResourceExt, wanted};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::change::Row;
use crate::error::{Chain, LoopError};
use crate::{Launcher, ServiceError};

/// How long a change can stay unseen when whoever made it could not wake this loop (another replica, a crash).
const SWEEP: Duration = Duration::from_secs(2);
/// How many rows one round takes.
const BATCH: u32 = 500;
/// How many rows are told to the fleet at once.
const CONCURRENCY: usize = 16;
/// How long the fleet may take to answer. Libraries below may retry for minutes by themselves.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// Rows that the fleet did not take, and when to try each again.
#[derive(Debug, Default)]
struct Backoffs(HashMap<Uuid, (u32, Instant)>);

impl Backoffs {
    fn holds(&self, instance: &Instance, now: Instant) -> bool {
        self.0.get(&instance.instance_id).is_some_and(|(_, until)| *until > now)
    }

    fn note(&mut self, instance_id: Uuid, succeeded: bool) {
        if succeeded {
            self.0.remove(&instance_id);
            return;
        }
        let (failures, until) = self.0.entry(instance_id).or_insert((0, Instant::now()));
        *until = Instant::now() + FIRST_BACKOFF.saturating_mul(1 << (*failures).min(10)).min(LONGEST_BACKOFF);
        *failures += 1;
    }

    /// Forgets those that the fleet need not be told of any more.
    fn keep_only(&mut self, pending: &HashSet<Uuid>) {
        self.0.retain(|id, _| pending.contains(id));
    }

    /// When the first of them is due: at most a sweep from now, and never at once, whatever the entries say.
    fn next(&self) -> Instant {
        let now = Instant::now();
        let first = self.0.values().map(|(_, until)| *until).min();
        first.map_or(now + SWEEP, |first| first.clamp(now + FIRST_BACKOFF, now + SWEEP))
    }
}

impl Launcher {
    pub(crate) async fn run_dispatch(&self, stop: CancellationToken) {
        let mut backoffs = Backoffs::default();
        while !stop.is_cancelled() {
            match self.dispatch_round(&mut backoffs).await {
                Ok(more) if more => continue,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "dispatch waits for the database")
                }
            }
            tokio::select! {
                () = self.0.dispatch.notified() => {}
                () = tokio::time::sleep_until(backoffs.next()) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// One round over everything that the fleet has to be told. Returns whether it was told anything: then there may be
    /// more to do at once.
    async fn dispatch_round(&self, backoffs: &mut Backoffs) -> Result<bool, ServiceError> {
        let promoted =
            self.0.store.dispatch_promote_queued(self.0.limits.max_concurrent_starts, self.0.clock.now()).await?;
        if !promoted.is_empty() {
            self.0.changed.notify_one();
        }
        for instance in &promoted {
            self.0.metrics.came_into(instance.state);
        }
        let (mut told, mut pending, mut behind) = (false, HashSet::new(), Some(0));
        while let Some(place) = behind {
            let part = self.0.store.dispatch_pending(place, BATCH).await?;
            behind = part.next;
            pending.extend(part.instances.iter().map(|instance| instance.instance_id));
            told |= self.dispatch_part(part.instances, backoffs).await;
        }
        backoffs.keep_only(&pending);
        Ok(told)
    }

    /// Tells the fleet of those that are due, several at once. Returns whether it took any.
    async fn dispatch_part(&self, instances: Vec<Instance>, backoffs: &mut Backoffs) -> bool {
        let now = Instant::now();
        let due: Vec<Instance> = instances.into_iter().filter(|instance| !backoffs.holds(instance, now)).collect();
        let mut outcomes = futures_util::stream::iter(due)
            .map(|instance| async move {
                let outcome = self.dispatch_one(&instance).await;
                if let Err(error) = &outcome {
                    self.0.metrics.dispatch_failures.inc();
                    tracing::warn!(instance = %instance.k8s_name, error = %Chain(error), "not dispatched; it is tried again");
                }
                (instance.instance_id, outcome.is_ok())
            })
            .buffer_unordered(CONCURRENCY);
        let mut told = false;
        while let Some((instance_id, succeeded)) = outcomes.next().await {
            backoffs.note(instance_id, succeeded);
            told |= succeeded;
        }
        told
    }

    async fn dispatch_one(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.state.wants_workshop() { self.apply(instance).await } else { self.delete(instance).await }
    }

    async fn apply(&self, instance: &Instance) -> Result<(), LoopError> {
        let mut workshop = wanted(instance);
        // One that is known is changed, and never made anew: with it the work in it would be gone, and nobody told.
        workshop.metadata.uid.clone_from(&instance.workshop_uid);
        match timeout(CALL_TIMEOUT, self.0.fleet.apply(&workshop)).await? {
            Ok(workshop) => {
                let uid = workshop.uid();
                Ok(self.0.store.dispatch_applied(instance.instance_id, instance.spec_version, uid.as_deref()).await?)
            }
            Err(FleetError::Refused(message)) => Ok(self.refused(instance, &message).await?),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&self, instance: &Instance) -> Result<(), LoopError> {
        let deletion = self.0.fleet.delete(&instance.k8s_name, instance.workshop_uid.as_deref());
        let deletion = timeout(CALL_TIMEOUT, deletion).await??;
        if deletion == Deletion::Gone && instance.state == InstanceState::Terminating {
            self.workshop_gone(&instance.k8s_name).await?;
        }
        Ok(self.0.store.dispatch_applied(instance.instance_id, instance.spec_version, None).await?)
    }

    async fn refused(&self, instance: &Instance, message: &str) -> Result<(), ServiceError> {
        tracing::warn!(instance = %instance.k8s_name, message, "the fleet refuses the Workshop");
        let reason = FailureReason::new(FailureCode::InvalidSpec, None);
        self.fail(&instance.k8s_name, &reason).await
    }

    /// Fails an instance for a reason that the service itself has found.
    pub(crate) async fn fail(&self, k8s_name: &str, reason: &FailureReason) -> Result<(), ServiceError> {
        let seen =
            Observation { phase: ObservedPhase::Failed(reason.clone()), url: None, ready_at: None, log_tail: None };
        self.change(Row::Observed(k8s_name), |instance| Ok(instance.observe(&seen))).await?;
        Ok(())
    }
}
