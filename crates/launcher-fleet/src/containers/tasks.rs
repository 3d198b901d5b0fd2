//! Tasks of an open fleet: they follow the engine's events, and remove orphaned containers and volumes.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::sleep;

use super::engine::{Engine, EngineError, FoundContainer, FoundVolume};
use super::workload::ContainerBackend;
use crate::machine::{Registry, Shared};

/// Pause before the next connection to an engine that has ended the stream of events.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// Wakes the supervisor of a workshop for each event of its containers, and all supervisors after a lost connection.
/// Ends only when the fleet is dropped.
pub(super) async fn follow_events(registry: Weak<Registry<ContainerBackend>>) {
    while let Some(open) = registry.upgrade() {
        let shared = Arc::clone(&open.shared);
        let mut events = shared.fleet.engine.events(&shared.data_dir.id);
        // Events may have been lost before this connection.
        open.workloads().iter().for_each(|workload| workload.backend.events.notify_one());
        drop(open);
        while let Some(event) = events.next().await {
            match event {
                Ok(workshop) => {
                    let Some(open) = registry.upgrade() else { return };
                    if let Some(workload) = open.workload(&workshop) {
                        workload.backend.events.notify_one();
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "following the container engine's events failed, connecting again");
                    break;
                }
            }
        }
        sleep(RECONNECT_DELAY).await;
    }
}

const ORPHANS_INTERVAL: Duration = Duration::from_mins(5);

/// Containers and volumes of this fleet, or those of them that belong to no Workshop.
#[derive(Debug, Default)]
pub(super) struct Found {
    containers: Vec<FoundContainer>,
    volumes: Vec<FoundVolume>,
}

impl Found {
    /// Lists the containers of a fleet, and the volumes with the course material of its Workshops.
    pub(super) async fn list(engine: &Engine, fleet_id: &str) -> Result<Self, EngineError> {
        let (containers, volumes) = tokio::try_join!(engine.list(fleet_id), engine.list_material_volumes(fleet_id))?;
        Ok(Self { containers, volumes })
    }

    /// Keeps only what belongs to none of these Workshops.
    pub(super) fn retain_orphans(&mut self, uids: &HashSet<String>) {
        self.containers.retain(|container| !uids.contains(&container.uid));
        self.volumes.retain(|volume| !uids.contains(&volume.uid));
    }

    async fn remove(self, shared: &Shared<ContainerBackend>) {
        let (engine, id) = (&shared.fleet.engine, &shared.data_dir.id);
        for FoundContainer { name, workshop, .. } in self.containers {
            tracing::warn!(container = name, workshop, "removing orphaned container");
            if let Err(error) = engine.remove(&name).await {
                tracing::warn!(container = name, %error, "removing orphaned container failed, retrying");
            }
        }
        for FoundVolume { name, .. } in self.volumes {
            tracing::warn!(volume = name, "removing orphaned volume with course material");
            if let Err(error) = engine.remove_volume(&name, id).await {
                tracing::warn!(volume = name, %error, "removing orphaned volume failed, retrying");
            }
        }
    }
}

/// Removes the containers and volumes with course material that belong to no Workshop: an interrupted creation or an
/// earlier launcher left them. Begins with those of the start, and searches for others until the fleet is dropped.
pub(super) async fn remove_orphans(registry: Weak<Registry<ContainerBackend>>, found: Found) {
    let mut orphans = found;
    while let Some(open) = registry.upgrade() {
        let shared = Arc::clone(&open.shared);
        drop(open);
        orphans.remove(&shared).await;
        sleep(ORPHANS_INTERVAL).await;
        let found = Found::list(&shared.fleet.engine, &shared.data_dir.id).await;
        orphans = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "searching orphaned containers failed, retrying");
            Found::default()
        });
        let Some(open) = registry.upgrade() else { return };
        // After the list: the Workshop of each listed container that is no orphan exists, or is being deleted.
        let uids: HashSet<_> =
            open.workloads().iter().filter_map(|workload| workload.record.workshop().metadata.uid).collect();
        orphans.retain_orphans(&uids);
    }
}
