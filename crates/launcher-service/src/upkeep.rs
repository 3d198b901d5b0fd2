//! Upkeep: periodic work that no event triggers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::instance::Observation;
use launcher_domain::{EndReason, FailureCode, FailureReason, Instance, InstanceState};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use tokio_util::sync::CancellationToken;

use crate::change::Row;
use crate::error::{Chain, LoopError};
use crate::observe::{Comparison, answered, is_its_own};
use crate::{Launcher, ServiceError};

const EVERY: Duration = Duration::from_secs(30);
/// Retention of instances that ended before they left the queue.
const WITHDRAWN: SignedDuration = SignedDuration::from_hours(1);
/// Delay after the start of this process before the rows of an earlier version are migrated on a shared database.
/// Launchers of that version may still run beside this one, and they cannot read migrated rows.
const SIDE_BY_SIDE: SignedDuration = SignedDuration::from_mins(10);
/// Extra time that the service waits beyond the start timeout of the fleet before it gives up on a start. A failure
/// reason from the fleet is better.
const MARGIN: Duration = Duration::from_secs(60);

impl Launcher {
    pub(crate) async fn run_upkeep(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.upkeep_round().await {
                tracing::warn!(error = %Chain(&error), "upkeep failed, retrying");
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn upkeep_round(&self) -> Result<(), LoopError> {
        let counts = self.0.store.count_states().await.inspect_err(|_| self.0.metrics.uncounted())?;
        self.0.metrics.counted(&counts);
        let history = SignedDuration::try_from(self.0.limits.history).unwrap_or(SignedDuration::MAX);
        if let Ok(before) = self.0.clock.now().checked_sub(history) {
            self.dismiss_forgotten(before).await?;
            let purged = self.0.store.purge_ended(before).await?;
            if purged > 0 {
                tracing::info!(purged, "purged ended instances");
            }
            let purged = self.0.store.purge_activities(before).await?;
            if purged > 0 {
                tracing::info!(purged, "purged old activity log entries");
            }
        }
        self.tidy_up().await?;
        // Last, because only this step waits for the fleet.
        self.give_up_on_slow_starts().await
    }

    /// Removes unneeded rows, regardless of the history limit.
    async fn tidy_up(&self) -> Result<(), LoopError> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        if let Ok(before) = now.checked_sub(WITHDRAWN) {
            let purged = store.purge_withdrawn(before).await?;
            if purged > 0 {
                tracing::info!(purged, "purged instances that ended in the queue");
            }
        }
        store.purge_gates(now).await?;
        if !store.is_shared() || self.0.begun.checked_add(SIDE_BY_SIDE).is_ok_and(|until| until < now) {
            let moved = store.move_inline_settings().await?;
            if moved > 0 {
                tracing::info!(moved, "migrated settings of an earlier version");
            }
        }
        let purged = store.purge_settings().await?;
        if purged > 0 {
            tracing::info!(purged, "purged unreferenced settings");
        }
        Ok(())
    }

    /// Dismisses failed instances that stayed undismissed beyond the history limit. Otherwise the failed launches of
    /// a script would accumulate.
    async fn dismiss_forgotten(&self, before: Timestamp) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        for instance in self.0.store.observe_forgotten(before).await? {
            let is_failed = |row: &Instance| row.state == InstanceState::Failed;
            let dismissed = |row: &Instance| row.terminate(EndReason::Failed, now).filter(|_| is_failed(row));
            self.change(Row::Observed(&instance.k8s_name), |row| Ok(dismissed(row))).await?;
        }
        Ok(())
    }

    /// Fails instances that exceed the start timeout, when the fleet does not report a failure itself.
    async fn give_up_on_slow_starts(&self) -> Result<(), LoopError> {
        let mut comparison = Comparison::begin();
        for instance in self.0.store.observe_with_workshop().await? {
            let since = instance.dispatched_at.filter(|_| instance.state == InstanceState::Starting);
            // The timeout counts from the start of this process at the earliest: before it, possibly no process
            // advanced the start of the workshop.
            if since.is_some_and(|since| self.is_overdue(since.max(self.0.begun))) {
                comparison.note(self.give_up_on(&instance).await)?;
            }
        }
        comparison.end()
    }

    /// True when a start since then should be ready by now, or failed by the fleet.
    fn is_overdue(&self, since: Timestamp) -> bool {
        let patience = SignedDuration::try_from(self.0.limits.start_timeout + MARGIN).unwrap_or(SignedDuration::MAX);
        since.checked_add(patience).is_ok_and(|due| due < self.0.clock.now())
    }

    /// Fails an overdue start, unless the fleet reports progress that was not observed yet. If the fleet took up the
    /// Workshop late, the timeout counts from the fleet's time. The start still times out if the fleet never returns
    /// to it.
    async fn give_up_on(&self, instance: &Instance) -> Result<(), LoopError> {
        match answered(self.0.fleet.get(&instance.k8s_name)).await {
            Ok(Some(workshop)) if is_its_own(instance, Some(&workshop)) => {
                if is_past_its_start(&workshop) {
                    return self.workshop_seen(&workshop).await;
                }
                let since = workshop.status.as_ref().and_then(WorkshopStatus::starting_since);
                if since.is_some_and(|since| !self.is_overdue(since)) {
                    return Ok(());
                }
            }
            Ok(_) => {}
            // The Workshop may be ready by now. A Workshop that the fleet never accepted cannot be.
            Err(error) if instance.applied_version > 0 => return Err(error),
            Err(error) => tracing::warn!(error = %Chain(&error), "failing overdue start without answer from the fleet"),
        }
        let found = Observation::of_failure(FailureReason::new(FailureCode::StartTimeout, None));
        let is_as_it_was = |row: &Instance| row.state == instance.state && row.dispatched_at == instance.dispatched_at;
        self.change(Row::Observed(&instance.k8s_name), |row| Ok(row.observe(&found).filter(|_| is_as_it_was(row))))
            .await?;
        Ok(())
    }
}

/// True when the status of a Workshop is past pending and starting.
fn is_past_its_start(workshop: &Workshop) -> bool {
    workshop.status.as_ref().is_some_and(|status| !matches!(status.phase, Phase::Pending | Phase::Starting))
}
