//! Observe: turns Workshop statuses into rows, and deletes orphaned Workshops.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::BoxStream;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{Instance, InstanceState};
use launcher_fleet::{Fleet, FleetError, FleetEvent};
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec, labels};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::change::Target;
use crate::error::{ErrorChain, LoopError, ServiceError};
use crate::launcher::Launcher;

/// Delay before the retry of a change that the database or the fleet did not accept.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Full resync interval, independent of watch events.
const RESYNC_INTERVAL: Duration = Duration::from_secs(300);
/// Delay before the next full resync after a fleet error.
const RESYNC_RETRY: Duration = Duration::from_secs(10);
/// Timeout of one fleet call. It is short, because a call in progress blocks the reconciliation of all rows.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for which a full resync continues with other instances after fleet errors.
const FLEET_ERROR_TOLERANCE: Duration = Duration::from_secs(60);

impl Launcher {
    /// Observes each fleet for itself: a namespace that cannot be reached does not delay the others.
    pub(crate) async fn run_observe(&self, stop: CancellationToken) {
        join_all(self.0.fleets.all().map(|(namespace, fleet)| self.observe_fleet(namespace, fleet, &stop))).await;
    }

    async fn observe_fleet(&self, namespace: Option<&str>, fleet: &dyn Fleet, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let events = fleet.watch();
            // Start a new watch after this interval. It begins with a list of all Workshops, which repairs any missed
            // change.
            let until = Instant::now() + RESYNC_INTERVAL;
            tokio::select! {
                () = self.observe_until(namespace, events, until) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn observe_until(
        &self,
        namespace: Option<&str>,
        mut events: BoxStream<'static, FleetEvent>,
        mut until: Instant,
    ) {
        while let Ok(event) = timeout_at(until, events.next()).await {
            let Some(event) = event else { return sleep_until(until).await };
            if !self.handle_event(namespace, &event).await {
                until = until.min(Instant::now() + RESYNC_RETRY);
            }
        }
    }

    /// Handles an event. Retries while the database is unavailable, because a dropped event would leave a row wrong.
    /// After a fleet error, returns false without a retry, because a retry would delay other rows. The next full resync
    /// then handles this row again.
    async fn handle_event(&self, namespace: Option<&str>, event: &FleetEvent) -> bool {
        while let Err(error) = self.apply_event(namespace, event).await {
            tracing::warn!(
                error = %ErrorChain(&error),
                "handling Workshop event failed, retrying now or at the next resync"
            );
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

    async fn apply_event(&self, namespace: Option<&str>, event: &FleetEvent) -> Result<(), LoopError> {
        match event {
            FleetEvent::Applied(workshop) => self.reconcile_workshop(namespace, workshop).await,
            FleetEvent::Deleted(workshop) => {
                let name = workshop.name_any();
                let Some(instance) = self.0.store.observe_instance(&name).await? else { return Ok(()) };
                if !is_row_of(&instance, namespace, workshop) {
                    return Ok(());
                }
                Ok(self.record_workshop_gone(&instance).await?)
            }
            FleetEvent::Relisted(workshops) => self.full_resync(namespace, workshops).await,
        }
    }

    /// Reconciles a row with its Workshop of the fleet of this namespace. Deletes a Workshop that no row wants.
    pub(crate) async fn reconcile_workshop(
        &self,
        namespace: Option<&str>,
        workshop: &Workshop,
    ) -> Result<(), LoopError> {
        let name = workshop.name_any();
        let wanted = self.0.store.observe_instance(&name).await?;
        let Some(instance) = wanted.filter(|row| is_row_of(row, namespace, workshop) && !has_ended(row)) else {
            return self.delete_orphan(namespace, workshop).await;
        };
        self.send_saved_files(&instance, workshop);
        let status = workshop.status.as_ref();
        if let Some(status) = status.filter(|status| !status.is_outdated(workshop.metadata.generation)) {
            let seen = self.redact(&instance, status.observation()).await?;
            let observed = |row: &Instance| row.observe(&seen).filter(|_| instance.has_same_workshop(row));
            self.change_instance(Target::ByService(&name), |row| Ok(observed(row))).await?;
        }
        // Apply the spec again when spec or labels of the Workshop differ from the row.
        if !workshop.spec.is_equivalent(&WorkshopSpec::of(&instance)) || !has_launcher_labels(workshop) {
            self.reapply(&instance).await?;
        }
        Ok(())
    }

    /// Removes the instance's secret parameters from the report of a failure, whose texts outlive them: the change to
    /// failed erases the secrets. If they are already erased, the end is decided, and the report changes nothing.
    async fn redact(&self, instance: &Instance, seen: Observation) -> Result<Observation, LoopError> {
        if !matches!(seen.phase, ObservedPhase::Failed(_)) {
            return Ok(seen);
        }
        Ok(seen.redacted(&self.secrets(instance).await?))
    }

    async fn delete_orphan(&self, namespace: Option<&str>, workshop: &Workshop) -> Result<(), LoopError> {
        if workshop.metadata.deletion_timestamp.is_some() || !has_launcher_labels(workshop) {
            return Ok(());
        }
        let name = workshop.name_any();
        tracing::warn!(workshop = %name, "deleting orphaned Workshop");
        let uid = workshop.uid();
        call_fleet(self.0.fleets.of(namespace)?.delete(&name, uid.as_deref())).await.map(drop)
    }

    /// Reconciles all rows of a namespace with this list of its Workshops. Runs at the start, after each gap in the watch, and
    /// periodically. A failure for one instance does not delay the others; the next resync retries it.
    async fn full_resync(&self, namespace: Option<&str>, workshops: &[Workshop]) -> Result<(), LoopError> {
        let mut resync = Resync::start();
        for workshop in workshops {
            resync.record(&workshop.name_any(), self.reconcile_workshop(namespace, workshop).await)?;
        }
        let by_name: HashMap<String, &Workshop> =
            workshops.iter().map(|workshop| (workshop.name_any(), workshop)).collect();
        // A Workshop that the list lacks may still exist: it may be unreadable, or newer than the list.
        let rows = self.0.store.observe_with_workshop().await?;
        for instance in rows.into_iter().filter(|row| row.namespace.as_deref() == namespace) {
            if !owns_workshop(&instance, by_name.get(&instance.k8s_name).copied()) {
                resync.record(&instance.k8s_name, self.check_missing_workshop(&instance).await)?;
            }
        }
        resync.finish()
    }

    /// Schedules another apply, unless the instance wants no Workshop, or an apply is already pending.
    async fn reapply(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.state.wants_workshop() && instance.applied_version >= instance.spec_version {
            self.0.store.dispatch_reapply(instance.instance_id).await?;
            self.0.dispatch.notify_one();
        }
        Ok(())
    }

    /// Handles an instance whose Workshop is missing from the list. Reads the Workshop again, because the list omits
    /// unreadable Workshops and may be older than the Workshop.
    async fn check_missing_workshop(&self, instance: &Instance) -> Result<(), LoopError> {
        // Without a uid, the fleet has not answered the apply of a new or resumed instance yet.
        let is_new = instance.state.wants_workshop() && instance.workshop_uid.is_none();
        // A repair of the first version sets `applied_version` to 0, too: the uid shows that the Workshop existed.
        if is_new || (instance.applied_version == 0 && instance.workshop_uid.is_none()) {
            return Ok(());
        }
        let found = match call_fleet(self.fleet_of(instance)?.get(&instance.k8s_name)).await {
            // The Workshop exists, but its content does not parse. Dispatch applies the spec again if the instance
            // wants a Workshop. Otherwise the deletion is already pending.
            Err(LoopError::Fleet(FleetError::Refused(message))) => {
                tracing::warn!(
                    workshop = %instance.k8s_name,
                    message,
                    "Workshop is unreadable, overwriting its spec from the database"
                );
                return self.reapply(instance).await;
            }
            found => found?,
        };
        if !owns_workshop(instance, found.as_ref()) {
            self.record_workshop_gone(instance).await?;
        }
        Ok(())
    }

    /// Records that the Workshop and workload of an instance are gone. `seen` is the row to which this finding applies: if
    /// the instance was resumed since, it has another Workshop, and nothing changes.
    pub(crate) async fn record_workshop_gone(&self, seen: &Instance) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        let gone = |row: &Instance| row.workshop_gone(now).filter(|_| seen.has_same_workshop(row));
        self.change_instance(Target::ByService(&seen.k8s_name), |row| Ok(gone(row))).await?;
        Ok(())
    }
}

/// Awaits a fleet call for at most `CALL_TIMEOUT`.
pub(crate) async fn call_fleet<T>(call: impl Future<Output = Result<T, FleetError>>) -> Result<T, LoopError> {
    Ok(timeout(CALL_TIMEOUT, call).await??)
}

/// Error policy while a loop goes through many instances, for example in a full resync: decides which errors stop the
/// loop, and keeps the last skipped fleet error.
pub(crate) struct Resync {
    tolerate_until: Instant,
    /// The last fleet error, if any; otherwise `Ok`.
    last_error: Result<(), LoopError>,
}

impl Resync {
    pub(crate) fn start() -> Self {
        Self { tolerate_until: Instant::now() + FLEET_ERROR_TOLERANCE, last_error: Ok(()) }
    }

    /// Records the outcome for one workshop. Logs and skips an error that an immediate retry would not remove. Skips
    /// fleet errors until `FLEET_ERROR_TOLERANCE` has passed. Returns any other error, which stops the resync.
    pub(crate) fn record(&mut self, workshop: &str, outcome: Result<(), LoopError>) -> Result<(), LoopError> {
        match outcome {
            Err(error) if is_fleet_error(&error) && Instant::now() < self.tolerate_until => {
                self.last_error = Err(error)
            }
            Err(error) if !error.is_transient() => {
                let error = ErrorChain(&error);
                tracing::error!(workshop, %error, "reconciling instance failed, retrying in the next round");
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

/// True when the fleet did not answer in time or was unreachable, as opposed to an error of the database.
fn is_fleet_error(error: &LoopError) -> bool {
    matches!(error, LoopError::Timeout(_) | LoopError::Fleet(FleetError::Unavailable(_)))
}

/// True when an instance has ended or is suspended, and the fleet has confirmed the deletion. If its Workshop exists now,
/// a late call created it.
fn has_ended(instance: &Instance) -> bool {
    match instance.state {
        InstanceState::Suspended | InstanceState::Terminated => true,
        InstanceState::Failed => instance.applied_version >= instance.spec_version,
        _ => false,
    }
}

/// True when a Workshop has the labels of this launcher. The launcher never deletes a Workshop without them.
fn has_launcher_labels(workshop: &Workshop) -> bool {
    labels().iter().all(|(name, value)| workshop.labels().get(name) == Some(value))
}

/// True when `found`, the Workshop with the instance's name, exists and belongs to the instance.
pub(crate) fn owns_workshop(instance: &Instance, found: Option<&Workshop>) -> bool {
    found.is_some_and(|workshop| !has_other_uid(instance, workshop))
}

/// True when a Workshop with the instance's name, in the fleet of this namespace, belongs to the instance.
fn is_row_of(instance: &Instance, namespace: Option<&str>, workshop: &Workshop) -> bool {
    instance.namespace.as_deref() == namespace && !has_other_uid(instance, workshop)
}

/// True when the uid of a Workshop differs from the uid in its row: a late call may have created such a Workshop. Also
/// true for the Workshop from before a resume.
fn has_other_uid(instance: &Instance, workshop: &Workshop) -> bool {
    match (&instance.workshop_uid, workshop.uid()) {
        (Some(known), Some(seen)) => *known != seen,
        (None, Some(seen)) => instance.former_uid.as_ref() == Some(&seen),
        _ => false,
    }
}
