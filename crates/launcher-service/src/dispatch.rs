//! Dispatch: turns rows into Workshop specs.
//!
//! Level-triggered: each round reads the rows that the fleet has not yet applied, and applies them. A round runs after
//! each change and as a periodic sweep. Several replicas may run rounds at once, because applying twice is harmless.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use launcher_domain::instance::Observation;
use launcher_domain::{FailureCode, FailureReason, Instance, InstanceState, SecretValues};
use launcher_fleet::{Deletion, Fleet, FleetError};
use launcher_workshop::{ResourceExt, desired_workshop};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::change::Target;
use crate::error::{ErrorChain, LoopError, ServiceError, finished};
use crate::launcher::Launcher;
use crate::observe::call_fleet;
use crate::traces;

/// Sweep interval. Bounds the delay of changes that did not wake this loop, because another replica made them or the
/// process crashed afterwards.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);
/// Maximum rows per query. A round repeats the query until it has at least this many rows to dispatch, or no more rows
/// are pending.
const BATCH: u32 = 500;
/// Maximum in-flight calls to the fleet.
const CONCURRENCY: usize = 16;
/// Timeout of one fleet call. Without it the client libraries may retry for minutes.
const CALL_TIMEOUT: Duration = Duration::from_secs(15);
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// Backoff of the instances whose last fleet call failed: number of failures and time of the next retry.
#[derive(Debug, Default)]
struct Backoffs(HashMap<Uuid, (u32, Instant)>);

impl Backoffs {
    fn is_waiting(&self, instance: &Instance, now: Instant) -> bool {
        self.0.get(&instance.instance_id).is_some_and(|(_, until)| *until > now)
    }

    fn record(&mut self, instance_id: Uuid, succeeded: bool) {
        if succeeded {
            self.0.remove(&instance_id);
            return;
        }
        let (failures, until) = self.0.entry(instance_id).or_insert((0, Instant::now()));
        *until = Instant::now() + MIN_BACKOFF.saturating_mul(1 << (*failures).min(10)).min(MAX_BACKOFF);
        *failures += 1;
    }

    /// Removes the backoff of instances that are no longer pending.
    fn keep_only(&mut self, pending: &HashSet<Uuid>) {
        self.0.retain(|id, _| pending.contains(id));
    }

    /// Returns the time of the next round: the earliest retry, but at least `MIN_BACKOFF` and at most `SWEEP_INTERVAL`
    /// from now.
    fn next_round(&self) -> Instant {
        let now = Instant::now();
        let first = self.0.values().map(|(_, until)| *until).min();
        first.map_or(now + SWEEP_INTERVAL, |first| first.clamp(now + MIN_BACKOFF, now + SWEEP_INTERVAL))
    }
}

/// Dispatch queue and in-flight calls.
#[derive(Debug, Default)]
struct DispatchQueue {
    backoffs: Backoffs,
    /// Rows to dispatch, in the order in which the last round found them.
    due: VecDeque<Instance>,
    /// True when the last round did not read all pending rows.
    has_more: bool,
    /// In-flight calls by instance, each with the spec version that it applies.
    in_flight: HashMap<Uuid, i64>,
    /// In-flight instances whose row has changed since the call began. They need another call.
    outdated: HashSet<Uuid>,
}

impl DispatchQueue {
    /// Queues a batch of the pending rows, except those in flight or in backoff.
    fn enqueue(&mut self, instances: Vec<Instance>) {
        let now = Instant::now();
        for instance in instances {
            match self.in_flight.get(&instance.instance_id) {
                Some(applying) if *applying < instance.spec_version => drop(self.outdated.insert(instance.instance_id)),
                Some(_) => {}
                None if self.backoffs.is_waiting(&instance, now) => {}
                None => self.due.push_back(instance),
            }
        }
    }

    /// Records the end of a call. Returns true when another round should start at once.
    fn finish_call(&mut self, instance_id: Uuid, succeeded: bool) -> bool {
        self.in_flight.remove(&instance_id);
        self.backoffs.record(instance_id, succeeded);
        self.outdated.remove(&instance_id) || (self.has_more && self.due.is_empty())
    }
}

impl Launcher {
    /// Runs dispatch rounds until `stop` is cancelled. A round does not wait for calls in flight, so an unanswered call
    /// does not delay other instances.
    pub(crate) async fn run_dispatch(&self, stop: CancellationToken) {
        // Each fleet call is a separate task, which prevents a deadlock: while a round waits for a write permit of the
        // store, a call that holds a permit proceeds and releases it.
        let (mut queue, mut calls) = (DispatchQueue::default(), JoinSet::new());
        let (mut refill, mut until) = (true, Instant::now());
        while !stop.is_cancelled() {
            if refill {
                if let Err(error) = self.dispatch_round(&mut queue).await {
                    tracing::warn!(error = %ErrorChain(&error), "dispatch round failed, retrying");
                }
                until = queue.backoffs.next_round();
            }
            while calls.len() < CONCURRENCY
                && let Some(instance) = queue.due.pop_front()
            {
                queue.in_flight.insert(instance.instance_id, instance.spec_version);
                let launcher = self.clone();
                calls.spawn(async move { launcher.dispatch_call(instance).await });
            }
            refill = tokio::select! {
                Some(ended) = calls.join_next() => {
                    let Some((instance_id, succeeded)) = finished(ended) else { return };
                    let refill_now = queue.finish_call(instance_id, succeeded);
                    until = until.min(queue.backoffs.next_round());
                    refill_now
                }
                () = self.0.dispatch.notified() => true,
                () = tokio::time::sleep_until(until) => true,
                () = stop.cancelled() => false,
            };
        }
    }

    /// Promotes queued rows and collects the rows to dispatch.
    async fn dispatch_round(&self, queue: &mut DispatchQueue) -> Result<(), ServiceError> {
        let promoted =
            self.0.store.dispatch_promote_queued(self.0.limits.max_concurrent_starts, self.0.clock.now()).await?;
        if !promoted.is_empty() {
            self.0.changed.notify_one();
        }
        for instance in &promoted {
            self.0.metrics.count_transition(instance.state);
        }
        queue.due.clear();
        let (mut pending, mut cursor) = (HashSet::new(), Some(0));
        while let Some(after) = cursor.filter(|_| queue.due.len() < BATCH as usize) {
            let batch = self.0.store.dispatch_pending(after, BATCH).await?;
            cursor = batch.next;
            pending.extend(batch.instances.iter().map(|instance| instance.instance_id));
            queue.enqueue(batch.instances);
        }
        queue.has_more = cursor.is_some();
        if !queue.has_more {
            queue.backoffs.keep_only(&pending);
        }
        Ok(())
    }

    /// Applies or deletes the Workshop of one instance. Returns its identifier, and false when the fleet did not accept
    /// the call.
    async fn dispatch_call(&self, instance: Instance) -> (Uuid, bool) {
        let outcome = self.dispatch_one(&instance).await;
        if let Err(error) = &outcome {
            self.0.metrics.dispatch_failures.inc();
            tracing::warn!(workshop = %instance.k8s_name, error = %ErrorChain(error), "dispatch failed, retrying");
        }
        (instance.instance_id, outcome.is_ok())
    }

    async fn dispatch_one(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.waits_for_snapshot() {
            // A change from before the end was not applied. The Workshop has to stay until its files are saved.
            return Ok(self.0.store.dispatch_applied(instance.instance_id, instance.spec_version, None).await?);
        }
        if !instance.state.wants_workshop() {
            return self.delete(instance).await;
        }
        self.apply(instance).await
    }

    async fn apply(&self, instance: &Instance) -> Result<(), LoopError> {
        let mut workshop = desired_workshop(instance);
        // The uid makes the fleet update this Workshop and never recreate it. A recreated Workshop would silently lose
        // the owner's work.
        workshop.metadata.uid.clone_from(&instance.workshop_uid);
        let secrets = self.secrets(instance).await?;
        let is_missing = |name: &String| !secrets.contains(name);
        if instance.workshop_uid.is_none() && workshop.spec.secret_env.iter().any(is_missing) {
            // The end of the instance erased the values. If it has not ended, the database lost them.
            return self.handle_refusal(instance, "its secret parameters have no values".to_owned()).await;
        }
        let begun = self.0.clock.now();
        let call = self.fleet_of(instance)?.apply_with_secrets(&workshop, &secrets);
        let answer = timeout(CALL_TIMEOUT, call).await.map_err(LoopError::from);
        // Record the trace step before handling the answer: handling a refusal ends the start and completes its trace.
        if instance.applied_version == 0 {
            traces::record_apply(instance, (begun, self.0.clock.now()), &answer);
        }
        match answer? {
            Ok(workshop) => {
                let uid = workshop.uid();
                Ok(self.0.store.dispatch_applied(instance.instance_id, instance.spec_version, uid.as_deref()).await?)
            }
            Err(FleetError::Refused(message)) => self.handle_refusal(instance, message).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the fleet that has the Workshop of an instance.
    pub(crate) fn fleet_of(&self, instance: &Instance) -> Result<&dyn Fleet, FleetError> {
        self.0.fleets.of(instance.namespace.as_deref())
    }

    /// Returns the secret parameters of an instance; none once its end is decided.
    pub(crate) async fn secrets(&self, instance: &Instance) -> Result<SecretValues, LoopError> {
        if instance.parameters.values().all(Option::is_some) {
            return Ok(SecretValues::default());
        }
        Ok(self.0.store.dispatch_secrets(instance.instance_id).await?)
    }

    async fn delete(&self, instance: &Instance) -> Result<(), LoopError> {
        let uid = self.uid_to_delete(instance).await?;
        let is_resumable = matches!(instance.state, InstanceState::Suspending | InstanceState::Suspended);
        let deletion = if uid.is_none() && is_resumable {
            // A Workshop with this name belongs to a resume: a deletion without a uid would end it.
            Deletion::Gone
        } else {
            timeout(CALL_TIMEOUT, self.fleet_of(instance)?.delete(&instance.k8s_name, uid.as_deref())).await??
        };
        let waits_for_end = matches!(instance.state, InstanceState::Suspending | InstanceState::Terminating);
        if deletion == Deletion::Gone && waits_for_end {
            self.record_workshop_gone(instance).await?;
        }
        Ok(self.0.store.dispatch_applied(instance.instance_id, instance.spec_version, None).await?)
    }

    /// Returns the uid of the Workshop to delete, if it is known. A suspended instance can get another Workshop with the
    /// same name: the deletion needs the uid, so this function reads and records a missing one. Returns `None` for a
    /// suspending instance without a Workshop, or that was resumed meanwhile.
    async fn uid_to_delete(&self, instance: &Instance) -> Result<Option<String>, LoopError> {
        if instance.workshop_uid.is_some() || instance.state != InstanceState::Suspending {
            return Ok(instance.workshop_uid.clone());
        }
        let uid = call_fleet(self.fleet_of(instance)?.get(&instance.k8s_name)).await?.and_then(|found| found.uid());
        // After a resume, the uid can be that of the new Workshop. Before a resume, it cannot.
        let row = self.0.store.observe_instance(&instance.k8s_name).await?;
        if !row.is_some_and(|row| instance.has_same_workshop(&row)) {
            return Ok(None);
        }
        self.0.store.dispatch_applied(instance.instance_id, instance.applied_version, uid.as_deref()).await?;
        Ok(uid)
    }

    /// Handles a Workshop that the fleet refused. A start fails. If the Workshop already exists, the fleet keeps it
    /// unchanged, the instance continues, and dispatch retries the change.
    async fn handle_refusal(&self, instance: &Instance, message: String) -> Result<(), LoopError> {
        let found = Observation::of_failure(FailureReason::new(FailureCode::InvalidSpec, None));
        let has_no_workshop = |row: &Instance| row.state == InstanceState::Starting && row.workshop_uid.is_none();
        let fail = |row: &Instance| Ok(row.observe(&found).filter(|_| has_no_workshop(row)));
        let row = self.change_instance(Target::ByService(&instance.k8s_name), fail).await?;
        if row.is_some_and(|row| row.state.wants_workshop()) {
            return Err(FleetError::Refused(message).into());
        }
        tracing::warn!(workshop = %instance.k8s_name, message, "fleet refused Workshop, its start has failed");
        Ok(())
    }
}
