//! Observe: turns Workshop statuses into rows, and deletes orphaned Workshops.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use launcher_domain::{Instance, InstanceState};
use launcher_fleet::{FleetError, FleetEvent};
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec, labels};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::change::Target;
use crate::error::{ErrorChain, LoopError};
use crate::{Launcher, ServiceError};

/// Delay before the retry of a change that the database or the fleet did not accept.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Full resync interval, independent of watch events.
const RESYNC_INTERVAL: Duration = Duration::from_secs(300);
/// Delay of the next full resync after a fleet error.
const RESYNC_RETRY: Duration = Duration::from_secs(10);
/// Timeout of one fleet call. A pending call blocks reconciliation of all rows.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one full resync continues with other instances after fleet errors.
const FLEET_ERROR_TOLERANCE: Duration = Duration::from_secs(60);

impl Launcher {
    pub(crate) async fn run_observe(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let events = self.0.fleet.watch();
            // A new watch begins with a full list, which reveals every missed change.
            let until = Instant::now() + RESYNC_INTERVAL;
            tokio::select! {
                () = self.observe_until(events, until) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn observe_until(&self, mut events: BoxStream<'static, FleetEvent>, mut until: Instant) {
        while let Ok(event) = timeout_at(until, events.next()).await {
            let Some(event) = event else { return sleep_until(until).await };
            if !self.handle_event(&event).await {
                until = until.min(Instant::now() + RESYNC_RETRY);
            }
        }
    }

    /// Handles an event. Returns false on a fleet error. A dropped event would leave a row wrong, so this retries
    /// while the database is unavailable. A fleet error must not delay the rows of others: the next full resync finds
    /// it again.
    async fn handle_event(&self, event: &FleetEvent) -> bool {
        while let Err(error) = self.apply_event(event).await {
            tracing::warn!(error = %ErrorChain(&error), "handling Workshop event failed");
            if is_fleet_error(&error) {
                return false;
            }
            if !error.is_transient() {
                break;
            }
            sleep(RETRY_DELAY).await;
        }
        true
    }

    async fn apply_event(&self, event: &FleetEvent) -> Result<(), LoopError> {
        match event {
            FleetEvent::Applied(workshop) => self.reconcile_workshop(workshop).await,
            FleetEvent::Deleted(workshop) => {
                let name = workshop.name_any();
                let Some(instance) = self.0.store.observe_instance(&name).await? else { return Ok(()) };
                if has_other_uid(&instance, workshop) {
                    return Ok(());
                }
                Ok(self.record_workshop_gone(&name).await?)
            }
            FleetEvent::Relisted(workshops) => self.full_resync(workshops).await,
        }
    }

    /// Reconciles a row with its Workshop. Deletes a Workshop that no row wants.
    pub(crate) async fn reconcile_workshop(&self, workshop: &Workshop) -> Result<(), LoopError> {
        let name = workshop.name_any();
        let wanted = self.0.store.observe_instance(&name).await?;
        let Some(instance) = wanted.filter(|row| !has_other_uid(row, workshop) && !has_ended(row)) else {
            return self.delete_orphan(workshop).await;
        };
        let status = workshop.status.as_ref();
        if let Some(status) = status.filter(|status| !status.is_outdated(workshop.metadata.generation)) {
            let seen = status.observation();
            self.change_instance(Target::ByService(&name), |instance| Ok(instance.observe(&seen))).await?;
        }
        self.repair_drift(&instance, workshop).await
    }

    async fn delete_orphan(&self, workshop: &Workshop) -> Result<(), LoopError> {
        if workshop.metadata.deletion_timestamp.is_some() || !has_launcher_labels(workshop) {
            return Ok(());
        }
        let name = workshop.name_any();
        tracing::warn!(workshop = %name, "deleting orphaned Workshop");
        let uid = workshop.uid();
        call_fleet(self.0.fleet.delete(&name, uid.as_deref())).await.map(drop)
    }

    /// Full resync: after a start, after each gap in the watch, and periodically. A failure for one instance does not
    /// delay the others; the next resync finds it again.
    async fn full_resync(&self, workshops: &[Workshop]) -> Result<(), LoopError> {
        let mut resync = Resync::start();
        for workshop in workshops {
            resync.record(self.reconcile_workshop(workshop).await)?;
        }
        let by_name: HashMap<String, &Workshop> =
            workshops.iter().map(|workshop| (workshop.name_any(), workshop)).collect();
        // Rows are read after the list was taken: a Workshop missing from the list did not exist when it was taken.
        for instance in self.0.store.observe_with_workshop().await? {
            if !owns_workshop(&instance, by_name.get(&instance.k8s_name).copied()) {
                resync.record(self.check_missing_workshop(&instance).await)?;
            }
        }
        resync.finish()
    }

    /// Schedules another apply when spec or labels of the Workshop differ from the row. A row with a pending apply
    /// needs none.
    async fn repair_drift(&self, instance: &Instance, workshop: &Workshop) -> Result<(), LoopError> {
        if workshop.spec != WorkshopSpec::of(instance) || !has_launcher_labels(workshop) {
            self.reapply(instance).await?;
        }
        Ok(())
    }

    async fn reapply(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.state.wants_workshop() && instance.applied_version >= instance.spec_version {
            self.0.store.dispatch_reapply(instance.instance_id).await?;
            self.0.dispatch.notify_one();
        }
        Ok(())
    }

    /// Handles an instance whose Workshop is missing from the list: the list may be older than the Workshop.
    async fn check_missing_workshop(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.applied_version == 0 {
            return Ok(());
        }
        let found = match call_fleet(self.0.fleet.get(&instance.k8s_name)).await {
            // The Workshop exists but is unreadable, so dispatch writes it again.
            Err(LoopError::Fleet(FleetError::Refused(message))) => {
                tracing::warn!(workshop = %instance.k8s_name, message, "rewriting unreadable Workshop");
                return self.reapply(instance).await;
            }
            found => found?,
        };
        if !owns_workshop(instance, found.as_ref()) {
            self.record_workshop_gone(&instance.k8s_name).await?;
        }
        Ok(())
    }

    /// Records that the Workshop and workload of an instance are gone.
    pub(crate) async fn record_workshop_gone(&self, k8s_name: &str) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        self.change_instance(Target::ByService(k8s_name), |instance| Ok(instance.workshop_gone(now))).await?;
        Ok(())
    }
}

/// Awaits a fleet call, at most `CALL_TIMEOUT`.
pub(crate) async fn call_fleet<T>(call: impl Future<Output = Result<T, FleetError>>) -> Result<T, LoopError> {
    Ok(timeout(CALL_TIMEOUT, call).await??)
}

/// One resync of many rows with the fleet.
pub(crate) struct Resync {
    tolerate_until: Instant,
    /// The last fleet error.
    last_error: Result<(), LoopError>,
}

impl Resync {
    pub(crate) fn start() -> Self {
        Self { tolerate_until: Instant::now() + FLEET_ERROR_TOLERANCE, last_error: Ok(()) }
    }

    /// Records the outcome for one instance. Logs and skips an error that an immediate retry would repeat. Also skips
    /// fleet errors until `FLEET_ERROR_TOLERANCE` has passed. Any other error stops the resync.
    pub(crate) fn record(&mut self, outcome: Result<(), LoopError>) -> Result<(), LoopError> {
        match outcome {
            Err(error) if is_fleet_error(&error) && Instant::now() < self.tolerate_until => {
                self.last_error = Err(error)
            }
            Err(error) if !error.is_transient() => {
                tracing::error!(error = %ErrorChain(&error), "reconciling instance failed, skipping");
            }
            outcome => return outcome,
        }
        Ok(())
    }

    /// Returns the last fleet error, if any was skipped.
    pub(crate) fn finish(self) -> Result<(), LoopError> {
        self.last_error
    }
}

/// True when the fleet did not answer in time or was unreachable. The database may be fine.
fn is_fleet_error(error: &LoopError) -> bool {
    matches!(error, LoopError::Timeout(_) | LoopError::Fleet(FleetError::Unavailable(_)))
}

/// True when an instance has ended and the fleet was told: a Workshop that still exists was created too late.
fn has_ended(instance: &Instance) -> bool {
    match instance.state {
        InstanceState::Terminated => true,
        InstanceState::Failed => instance.applied_version >= instance.spec_version,
        _ => false,
    }
}

/// True when a Workshop is ours. A Workshop created by others is theirs to delete.
fn has_launcher_labels(workshop: &Workshop) -> bool {
    labels().iter().all(|(name, value)| workshop.labels().get(name) == Some(value))
}

/// True when the Workshop found under an instance's name, if any, belongs to the instance.
pub(crate) fn owns_workshop(instance: &Instance, found: Option<&Workshop>) -> bool {
    found.is_some_and(|workshop| !has_other_uid(instance, workshop))
}

/// True when a Workshop has the row's name but another uid.
fn has_other_uid(instance: &Instance, workshop: &Workshop) -> bool {
    match (&instance.workshop_uid, workshop.uid()) {
        (Some(known), Some(seen)) => *known != seen,
        _ => false,
    }
}
