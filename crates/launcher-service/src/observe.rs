//! Observe: from Workshop statuses to rows, and out with Workshops that no row wants.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use launcher_domain::{Instance, InstanceState};
use launcher_fleet::{FleetError, FleetEvent};
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec, labels};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::change::Row;
use crate::error::{Chain, LoopError};
use crate::{Launcher, ServiceError};

/// How long to wait before a change is written again that the database or the fleet did not take.
const RETRY: Duration = Duration::from_secs(1);
/// How often everything is compared with everything, whatever the watch has told.
const RELIST: Duration = Duration::from_secs(300);
/// How soon after the fleet did not do its part for one of them.
const RELIST_SOON: Duration = Duration::from_secs(10);
/// How long the fleet may take to answer: nobody's rows are brought in line meanwhile.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one comparison goes on with others while the fleet does not do its part.
const PATIENCE: Duration = Duration::from_secs(60);

impl Launcher {
    pub(crate) async fn run_observe(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let events = self.0.fleet.watch();
            // Watching anew begins with everything there is: whatever was missed is found then.
            let until = Instant::now() + RELIST;
            tokio::select! {
                () = self.observe_until(events, until) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn observe_until(&self, mut events: BoxStream<'static, FleetEvent>, mut until: Instant) {
        while let Ok(event) = timeout_at(until, events.next()).await {
            let Some(event) = event else { return sleep_until(until).await };
            if !self.brought_about(&event).await {
                until = until.min(Instant::now() + RELIST_SOON);
            }
        }
    }

    /// Does what an event asks for; whether the fleet did its part. An event that is dropped is a row that stays wrong, so
    /// it is tried again while the database is away. What only the fleet does not do must not keep everybody else's rows
    /// waiting: it is found again when everything is compared.
    async fn brought_about(&self, event: &FleetEvent) -> bool {
        while let Err(error) = self.observed(event).await {
            tracing::warn!(error = %Chain(&error), "a Workshop's change is not written, or not answered");
            if is_the_fleets(&error) {
                return false;
            }
            if !error.is_passing() {
                break;
            }
            sleep(RETRY).await;
        }
        true
    }

    async fn observed(&self, event: &FleetEvent) -> Result<(), LoopError> {
        match event {
            FleetEvent::Applied(workshop) => self.workshop_seen(workshop).await,
            FleetEvent::Deleted(workshop) => {
                let name = workshop.name_any();
                let Some(instance) = self.0.store.observe_instance(&name).await? else { return Ok(()) };
                if is_another(&instance, workshop) {
                    return Ok(());
                }
                Ok(self.workshop_gone(&name).await?)
            }
            FleetEvent::Relisted(workshops) => self.relisted(workshops).await,
        }
    }

    /// Brings a row in line with its Workshop; a Workshop that no row wants is ended.
    pub(crate) async fn workshop_seen(&self, workshop: &Workshop) -> Result<(), LoopError> {
        let name = workshop.name_any();
        let wanted = self.0.store.observe_instance(&name).await?;
        let Some(instance) = wanted.filter(|row| !is_another(row, workshop) && !has_outlived(row)) else {
            return self.end_stray(workshop).await;
        };
        let status = workshop.status.as_ref();
        if let Some(status) = status.filter(|status| !status.is_outdated(workshop.metadata.generation)) {
            let seen = status.observation();
            self.change(Row::Observed(&name), |instance| Ok(instance.observe(&seen))).await?;
        }
        self.repair_drift(&instance, workshop).await
    }

    async fn end_stray(&self, workshop: &Workshop) -> Result<(), LoopError> {
        if workshop.metadata.deletion_timestamp.is_some() || !carries_our_labels(workshop) {
            return Ok(());
        }
        let name = workshop.name_any();
        tracing::warn!(workshop = %name, "no instance wants this Workshop: it is ended");
        let uid = workshop.uid();
        answered(self.0.fleet.delete(&name, uid.as_deref())).await.map(drop)
    }

    /// Compares everything with everything: after a start, after each gap in what was watched, and now and then. What
    /// cannot be done for one does not keep the others waiting; it is found again next time.
    async fn relisted(&self, workshops: &[Workshop]) -> Result<(), LoopError> {
        let mut comparison = Comparison::begin();
        for workshop in workshops {
            comparison.note(self.workshop_seen(workshop).await)?;
        }
        let there: HashMap<String, &Workshop> = workshops.iter().map(|one| (one.name_any(), one)).collect();
        // Read after the list was taken: a Workshop that is not on it was not there when it was taken.
        for instance in self.0.store.observe_with_workshop().await? {
            if !is_its_own(&instance, there.get(&instance.k8s_name).copied()) {
                comparison.note(self.find_out_whether_gone(&instance).await)?;
            }
        }
        comparison.end()
    }

    /// Has the fleet told again what a row wants when the Workshop says otherwise. A row that the fleet is still to be told
    /// of is told anyway.
    async fn repair_drift(&self, instance: &Instance, workshop: &Workshop) -> Result<(), LoopError> {
        if workshop.spec != WorkshopSpec::of(instance) || !carries_our_labels(workshop) {
            self.tell_again(instance).await?;
        }
        Ok(())
    }

    async fn tell_again(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.state.wants_workshop() && instance.applied_version >= instance.spec_version {
            self.0.store.dispatch_again(instance.instance_id).await?;
            self.0.dispatch.notify_one();
        }
        Ok(())
    }

    /// An instance whose Workshop is not on the list: the list may be older than the Workshop.
    async fn find_out_whether_gone(&self, instance: &Instance) -> Result<(), LoopError> {
        if instance.applied_version == 0 {
            return Ok(());
        }
        let found = match answered(self.0.fleet.get(&instance.k8s_name)).await {
            // It is there, and nobody can read it: so it is written anew.
            Err(LoopError::Fleet(FleetError::Refused(message))) => {
                tracing::warn!(workshop = %instance.k8s_name, message, "a Workshop is written as its instance wants it");
                return self.tell_again(instance).await;
            }
            found => found?,
        };
        if !is_its_own(instance, found.as_ref()) {
            self.workshop_gone(&instance.k8s_name).await?;
        }
        Ok(())
    }

    /// Notes that an instance's Workshop and workload are gone.
    pub(crate) async fn workshop_gone(&self, k8s_name: &str) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        self.change(Row::Observed(k8s_name), |instance| Ok(instance.workshop_gone(now))).await?;
        Ok(())
    }
}

/// What the fleet answers, if it answers in time.
pub(crate) async fn answered<T>(call: impl Future<Output = Result<T, FleetError>>) -> Result<T, LoopError> {
    Ok(timeout(CALL_TIMEOUT, call).await??)
}

/// One comparison of many rows with the fleet.
pub(crate) struct Comparison {
    until: Instant,
    /// The last thing that the fleet did not do.
    missed: Result<(), LoopError>,
}

impl Comparison {
    pub(crate) fn begin() -> Self {
        Self { until: Instant::now() + PATIENCE, missed: Ok(()) }
    }

    /// An error that would come again at once is reported and passed over, and for a while so is one that is the fleet's.
    /// Every other stops the comparison.
    pub(crate) fn note(&mut self, outcome: Result<(), LoopError>) -> Result<(), LoopError> {
        match outcome {
            Err(error) if is_the_fleets(&error) && Instant::now() < self.until => self.missed = Err(error),
            Err(error) if !error.is_passing() => {
                tracing::error!(error = %Chain(&error), "one instance is passed over");
            }
            outcome => return outcome,
        }
        Ok(())
    }

    /// Whether the fleet did its part for all of them.
    pub(crate) fn end(self) -> Result<(), LoopError> {
        self.missed
    }
}

/// Whether the fleet did not answer, or could not be reached. The database may be well.
fn is_the_fleets(error: &LoopError) -> bool {
    matches!(error, LoopError::Timeout(_) | LoopError::Fleet(FleetError::Unavailable(_)))
}

/// Whether an instance has ended and the fleet was told so: a Workshop that is still there came too late.
fn has_outlived(instance: &Instance) -> bool {
    match instance.state {
        InstanceState::Terminated => true,
        InstanceState::Failed => instance.applied_version >= instance.spec_version,
        _ => false,
    }
}

/// Whether a Workshop is one of ours. One that somebody else has made is theirs to end.
fn carries_our_labels(workshop: &Workshop) -> bool {
    labels().iter().all(|(name, value)| workshop.labels().get(name) == Some(value))
}

/// Whether the Workshop that was found under an instance's name, if any, is the instance's.
pub(crate) fn is_its_own(instance: &Instance, found: Option<&Workshop>) -> bool {
    found.is_some_and(|workshop| !is_another(instance, workshop))
}

/// Whether a Workshop is not the one that the row was told of, but another one of the same name.
fn is_another(instance: &Instance, workshop: &Workshop) -> bool {
    match (&instance.workshop_uid, workshop.uid()) {
        (Some(known), Some(seen)) => *known != seen,
        _ => false,
    }
}
