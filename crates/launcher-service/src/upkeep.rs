//! Upkeep: periodically purges old rows and fails overdue starts.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::instance::Observation;
use launcher_domain::{EndReason, FailureCode, FailureReason, Instance, InstanceState, StartStep};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio_util::sync::CancellationToken;

use crate::change::Target;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;
use crate::observe::{Resync, call_fleet, owns_workshop};

const INTERVAL: Duration = Duration::from_secs(30);
/// Retention of instances that ended before they left the queue, and of full token buckets. A launcher whose clock is ahead would
/// otherwise remove a bucket before it is full.
const SHORT_RETENTION: SignedDuration = SignedDuration::from_hours(1);
/// Time added to the start timeout before the service itself fails a start. The fleet has the same timeout, and its
/// failure reason is more specific.
const START_TIMEOUT_MARGIN: Duration = Duration::from_secs(60);

impl Launcher {
    pub(crate) async fn run_upkeep(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.upkeep_round().await {
                tracing::warn!(error = %ErrorChain(&error), "upkeep failed, retrying");
            }
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.0.upkeep.notified() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn upkeep_round(&self) -> Result<(), LoopError> {
        let counts = self.0.store.count_states().await.inspect_err(|_| self.0.metrics.clear_states())?;
        self.0.metrics.set_states(&counts);
        let history = SignedDuration::try_from(self.0.limits.history).unwrap_or(SignedDuration::MAX);
        if let Ok(before) = self.0.clock.now().checked_sub(history) {
            self.dismiss_old_failures(before).await?;
            log_purge(self.0.store.purge_ended(before).await?, "ended instances");
            log_purge(self.0.store.purge_activities(before).await?, "old activity log entries");
        }
        self.purge_unneeded_rows().await?;
        self.decide_unused_volumes().await?;
        self.decide_old_snapshots().await?;
        // Run these steps last: only they wait for the fleet or the object store, so a slow one does not delay the other steps.
        self.fail_overdue_starts().await?;
        self.purge_volumes().await?;
        self.purge_snapshots().await
    }

    /// Purges rows with another retention than the history limit: instances that ended in the queue, full token buckets
    /// and unused settings.
    async fn purge_unneeded_rows(&self) -> Result<(), LoopError> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        if let Ok(before) = now.checked_sub(SHORT_RETENTION) {
            log_purge(store.purge_withdrawn(before).await?, "instances that ended in the queue");
            store.purge_gates(before).await?;
        }
        log_purge(store.purge_attention(now).await?, "hands and messages of classes that have ended");
        log_purge(store.purge_settings().await?, "unreferenced template settings");
        Ok(())
    }

    /// Dismisses failed instances that are older than the history limit. Otherwise the failed launches of a script
    /// would accumulate.
    async fn dismiss_old_failures(&self, before: Timestamp) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        for instance in self.0.store.observe_old_failures(before).await? {
            let is_failed = |row: &Instance| row.state == InstanceState::Failed;
            let dismissed = |row: &Instance| row.terminate(EndReason::Failed, now).filter(|_| is_failed(row));
            self.change_instance(Target::ByService(&instance.k8s_name), |row| Ok(dismissed(row))).await?;
        }
        Ok(())
    }

    /// Fails instances that exceed the start timeout and for which the fleet has not reported a failure.
    async fn fail_overdue_starts(&self) -> Result<(), LoopError> {
        let mut resync = Resync::start();
        for instance in self.0.store.observe_with_workshop().await? {
            let since = instance.dispatched_at.filter(|_| instance.state == InstanceState::Starting);
            // The timeout counts at the earliest from the start of this process. Before, possibly no launcher was
            // running to continue the start of the workshop.
            if since.is_some_and(|since| self.is_overdue(since.max(self.0.started_at))) {
                resync.record(&instance.k8s_name, self.fail_overdue_start(&instance).await)?;
            }
        }
        resync.finish()
    }

    /// True when a start that began at `since` exceeds the start timeout and its margin.
    fn is_overdue(&self, since: Timestamp) -> bool {
        let timeout =
            SignedDuration::try_from(self.0.limits.start_timeout + START_TIMEOUT_MARGIN).unwrap_or(SignedDuration::MAX);
        since.checked_add(timeout).is_ok_and(|due| due < self.0.clock.now())
    }

    /// Fails an overdue start, after reading its Workshop from the fleet. A Workshop that has finished starting is
    /// reconciled instead. If the Workshop's status has the time at which the fleet began the start, the timeout counts
    /// from that time. A start that reports its progress is not overdue.
    async fn fail_overdue_start(&self, instance: &Instance) -> Result<(), LoopError> {
        match call_fleet(async { self.fleet_of(instance)?.get(&instance.k8s_name).await }).await {
            Ok(Some(workshop)) if owns_workshop(instance, Some(&workshop)) => {
                if has_finished_starting(&workshop) {
                    return self.reconcile_workshop(instance.namespace.as_deref(), &workshop).await;
                }
                let has_time = |status: &WorkshopStatus| {
                    // The fleet itself limits the time of a step with a progress. Nothing limits the wait for a quota, as in
                    // the queue.
                    status.report.start_progress.is_some()
                        || status.report.start_step == Some(StartStep::WaitingForQuota)
                        || status.starting_since().is_some_and(|since| !self.is_overdue(since))
                };
                if workshop.status.as_ref().is_some_and(has_time) {
                    return Ok(());
                }
            }
            Ok(_) => {}
            // Without an answer, a Workshop that the fleet accepted may already be ready: do not fail its start. A
            // Workshop that the fleet never accepted cannot be ready.
            Err(error) if instance.workshop_uid.is_some() => return Err(error),
            Err(error) => {
                tracing::warn!(
                    workshop = %instance.k8s_name,
                    error = %ErrorChain(&error),
                    "reading Workshop from the fleet failed, failing its overdue start"
                )
            }
        }
        let reason = FailureReason::new(FailureCode::StartTimeout, None);
        let found = Observation::of_failure(reason.with_listening(instance.report.listens_elsewhere.as_ref()));
        let is_unchanged = |row: &Instance| row.state == instance.state && row.dispatched_at == instance.dispatched_at;
        self.change_instance(Target::ByService(&instance.k8s_name), |row| {
            Ok(row.observe(&found).filter(|_| is_unchanged(row)))
        })
        .await?;
        Ok(())
    }
}

fn log_purge(purged: u64, what: &str) {
    if purged > 0 {
        tracing::info!(purged, "purged {what}");
    }
}

/// True when the status of a Workshop is past pending and starting.
fn has_finished_starting(workshop: &Workshop) -> bool {
    workshop.status.as_ref().is_some_and(|status| !matches!(status.phase, Phase::Pending | Phase::Starting))
}
