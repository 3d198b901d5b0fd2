//! Observe: from Workshop statuses to rows, and out with Workshops that no row wants.

use std::collections::HashSet;
use std::time::Duration;

use futures_util::StreamExt;
use launcher_domain::{Instance, InstanceState};
use launcher_fleet::FleetEvent;
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec};
use tokio_util::sync::CancellationToken;

use crate::change::Row;
use crate::{Launcher, ServiceError};

/// How long to wait before a change is written again that the database or the fleet did not take.
const RETRY: Duration = Duration::from_secs(1);

impl Launcher {
    pub(crate) async fn run_observe(&self, stop: CancellationToken) {
        let mut events = self.0.fleet.watch();
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = stop.cancelled() => return,
            };
            let Some(event) = event else { return };
            // An event that is dropped is a row that stays wrong: it is tried until it is written.
            while let Err(error) = self.observed(&event).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "a Workshop's change waits to be written");
                tokio::select! {
                    () = tokio::time::sleep(RETRY) => {}
                    () = stop.cancelled() => return,
                }
            }
        }
    }

    async fn observed(&self, event: &FleetEvent) -> Result<(), ServiceError> {
        match event {
            FleetEvent::Applied(workshop) => self.workshop_seen(workshop).await,
            FleetEvent::Deleted(workshop) => {
                let name = workshop.name_any();
                let Some(instance) = self.0.store.observe_instance(&name).await? else { return Ok(()) };
                if is_another(&instance, workshop) {
                    return Ok(());
                }
                self.workshop_gone(&name).await
            }
            FleetEvent::Relisted(workshops) => self.relisted(workshops).await,
        }
    }

    /// Brings a row in line with its Workshop; a Workshop that no row wants is ended.
    async fn workshop_seen(&self, workshop: &Workshop) -> Result<(), ServiceError> {
        let name = workshop.name_any();
        let stray = match self.0.store.observe_instance(&name).await? {
            None => true,
            Some(instance) => instance.state == InstanceState::Terminated || is_another(&instance, workshop),
        };
        if stray {
            return self.end_stray(workshop).await;
        }
        let Some(status) = &workshop.status else { return Ok(()) };
        let seen = status.observation();
        self.change(Row::Observed(&name), |instance| Ok(instance.observe(&seen))).await?;
        Ok(())
    }

    async fn end_stray(&self, workshop: &Workshop) -> Result<(), ServiceError> {
        let name = workshop.name_any();
        tracing::warn!(workshop = %name, "no instance wants this Workshop: it is ended");
        let outcome = self.0.fleet.delete(&name, workshop.uid().as_deref()).await;
        outcome.map(drop).map_err(|error| ServiceError::Internal(Box::new(error)))
    }

    /// Compares everything with everything: after a start, and after each gap in what was watched.
    async fn relisted(&self, workshops: &[Workshop]) -> Result<(), ServiceError> {
        for workshop in workshops {
            self.workshop_seen(workshop).await?;
        }
        let there: HashSet<String> = workshops.iter().map(ResourceExt::name_any).collect();
        // Read after the list was taken: a Workshop that is not on it was not there when it was taken.
        for instance in self.0.store.observe_with_workshop().await? {
            if there.contains(&instance.k8s_name) {
                self.repair_drift(&instance, workshops).await?;
            } else if instance.applied_version > 0 && self.is_gone(&instance).await? {
                self.workshop_gone(&instance.k8s_name).await?;
            }
        }
        Ok(())
    }

    /// Tells the fleet again what a row wants when the Workshop says otherwise.
    async fn repair_drift(&self, instance: &Instance, workshops: &[Workshop]) -> Result<(), ServiceError> {
        let workshop = workshops.iter().find(|workshop| workshop.name_any() == instance.k8s_name);
        let wanted = WorkshopSpec::of(instance);
        if !instance.state.wants_workshop() || workshop.is_none_or(|workshop| workshop.spec == wanted) {
            return Ok(());
        }
        let applied = self.0.fleet.apply(&launcher_workshop::wanted(instance)).await;
        applied.map(drop).map_err(|error| ServiceError::Internal(Box::new(error)))
    }

    /// Whether an instance's Workshop is certainly not there now: the list may have been older than the Workshop.
    async fn is_gone(&self, instance: &Instance) -> Result<bool, ServiceError> {
        let found = self.0.fleet.get(&instance.k8s_name).await;
        found.map(|workshop| workshop.is_none()).map_err(|error| ServiceError::Internal(Box::new(error)))
    }

    /// Notes that an instance's Workshop and workload are gone.
    pub(crate) async fn workshop_gone(&self, k8s_name: &str) -> Result<(), ServiceError> {
        let now = self.0.clock.now();
        self.change(Row::Observed(k8s_name), |instance| Ok(instance.workshop_gone(now))).await?;
        Ok(())
    }
}

/// Whether a Workshop is not the one that the row was told of, but another one of the same name.
fn is_another(instance: &Instance, workshop: &Workshop) -> bool {
    match (&instance.workshop_uid, workshop.uid()) {
        (Some(known), Some(seen)) => *known != seen,
        _ => false,
    }
}
