//! The registry: all Workshops of an open local fleet, and their supervisor tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::{is_k8s_name, uuid_v7};
use launcher_domain::sync::lock;
use launcher_workshop::{ResourceExt, Workshop, WorkshopStatus};
use tokio_util::task::TaskTracker;

use super::process::ExitWatch;
use super::records::store::StateError;
use super::records::{Record, WatchCache};
use super::workload::{Context, DesiredState, Supervisor, Workload};
use crate::port::{Deletion, FleetError, GONE};

/// All Workshops of an open local fleet, and their supervisor tasks.
#[derive(Debug)]
pub(super) struct Registry {
    pub(super) context: Arc<Context>,
    workloads: Mutex<BTreeMap<String, Arc<Workload>>>,
    pub(super) cache: Arc<WatchCache>,
    /// True once the fleet is stopping. The lock is held while a Workshop is created, changed or marked for deletion.
    closed: tokio::sync::Mutex<bool>,
    pub(super) tasks: TaskTracker,
}

impl Registry {
    pub(super) fn new(context: Context) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::new(context),
            workloads: Mutex::new(BTreeMap::new()),
            cache: WatchCache::new(),
            closed: tokio::sync::Mutex::new(false),
            tasks: TaskTracker::new(),
        })
    }

    pub(super) fn workload(&self, name: &str) -> Option<Arc<Workload>> {
        lock(&self.workloads).get(name).cloned()
    }

    fn workloads(&self) -> Vec<Arc<Workload>> {
        lock(&self.workloads).values().cloned().collect()
    }

    /// Creates or updates a Workshop. Implements [`Fleet::apply`](crate::Fleet::apply).
    pub(super) async fn apply(self: &Arc<Self>, wanted: Workshop) -> Result<Workshop, FleetError> {
        let closed = self.closed.lock().await;
        if *closed {
            return Err(FleetError::Unavailable("the local fleet is stopping".to_owned()));
        }
        let name = wanted.name_any();
        validate(&name, &wanted)?;
        match (self.workload(&name), wanted.uid()) {
            (Some(workload), uid) if uid.is_none() || workload.record().workshop().uid() == uid => {
                update_spec(&workload, wanted).await
            }
            (None, None) => self.create(name, wanted).await,
            _ => Err(FleetError::Unavailable(GONE.to_owned())),
        }
    }

    async fn create(self: &Arc<Self>, name: String, wanted: Workshop) -> Result<Workshop, FleetError> {
        let mut workshop = Workshop::new(&name, wanted.spec);
        workshop.metadata.labels = wanted.metadata.labels;
        workshop.metadata.annotations = wanted.metadata.annotations;
        workshop.metadata.uid = Some(uuid_v7(&*self.context.clock, &SystemEntropy).to_string());
        workshop.metadata.generation = Some(1);
        workshop.metadata.creation_timestamp = Some(Time(self.context.clock.now()));
        workshop.status = Some(WorkshopStatus::default());
        let record = Record { workshop: workshop.clone(), process: None };
        let workload = Arc::new(Workload::new(name, Arc::clone(&self.context), Arc::clone(&self.cache), record));
        workload.record().store().await.map_err(unavailable)?;
        self.supervise(workload, None);
        Ok(workshop)
    }

    /// Announces a stored Workshop to the watchers and starts its supervisor.
    pub(super) fn supervise(self: &Arc<Self>, workload: Arc<Workload>, adopted: Option<ExitWatch>) {
        self.cache.insert(workload.record().workshop());
        lock(&self.workloads).insert(workload.name().to_owned(), Arc::clone(&workload));
        let registry = Arc::clone(self);
        self.tasks.spawn(async move {
            if Supervisor::new(Arc::clone(&workload), adopted).run().await.is_gone() {
                registry.forget(&workload);
            }
        });
    }

    fn forget(&self, workload: &Workload) {
        // Keep the lock until the end: watchers must see this deletion before a new Workshop with the same name.
        let mut workloads = lock(&self.workloads);
        workloads.remove(workload.name());
        self.cache.remove(workload.name());
    }

    /// Marks a Workshop for deletion. Implements [`Fleet::delete`](crate::Fleet::delete).
    pub(super) async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let _closed = self.closed.lock().await;
        let Some(workload) = self.workload(name) else { return Ok(Deletion::Gone) };
        if uid.is_some() && workload.record().workshop().metadata.uid.as_deref() != uid {
            return Ok(Deletion::Gone);
        }
        let now = Time(self.context.clock.now());
        let mark = move |record: &mut Record| {
            record.workshop.metadata.deletion_timestamp.get_or_insert(now);
        };
        workload.record().update(mark).await.map_err(unavailable)?;
        workload.desired_state().set(DesiredState::Deleted);
        Ok(Deletion::InProgress)
    }

    /// Terminates the processes of all Workshops concurrently. The Workshops stay stored. Further changes are refused.
    pub(super) async fn stop(&self) {
        *self.closed.lock().await = true;
        self.context.closing.cancel();
        for workload in self.workloads() {
            workload.desired_state().set(DesiredState::Stopped);
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.cache.close();
    }
}

fn unavailable(error: StateError) -> FleetError {
    FleetError::Unavailable(error.to_string())
}

/// Refuses a Workshop that can never run. The name must be valid, because it becomes a host and a directory. The owner
/// must be valid, because only the owner gets access.
fn validate(name: &str, wanted: &Workshop) -> Result<(), FleetError> {
    if !is_k8s_name(name) {
        return Err(FleetError::Refused(format!("its name {name:?} is not a DNS label")));
    }
    if wanted.spec.owner_email().is_none() {
        return Err(FleetError::Refused("spec.owner is not an e-mail address".to_owned()));
    }
    Ok(())
}

/// Changes spec, labels and annotations of a Workshop. Its processes keep running. Of the new spec, only the expiry
/// (`expiresAt`, `lifetimeSeconds`) applies to them.
async fn update_spec(workload: &Arc<Workload>, wanted: Workshop) -> Result<Workshop, FleetError> {
    let current = workload.record().workshop();
    if current.metadata.deletion_timestamp.is_some() {
        return Err(FleetError::Unavailable("the Workshop of this name is being deleted".to_owned()));
    }
    if current.spec.owner != wanted.spec.owner || current.spec.image != wanted.spec.image {
        return Err(FleetError::Refused("spec.owner and spec.image cannot be changed".to_owned()));
    }
    let update = move |record: &mut Record| {
        let workshop = &mut record.workshop;
        workshop.metadata.labels = wanted.metadata.labels;
        workshop.metadata.annotations = wanted.metadata.annotations;
        if workshop.spec != wanted.spec {
            workshop.spec = wanted.spec;
            workshop.metadata.generation = workshop.metadata.generation.map(|generation| generation + 1);
            let generation = workshop.metadata.generation;
            workshop.status.get_or_insert_default().observed_generation = generation;
        }
        workshop.clone()
    };
    workload.record().update(update).await.map_err(unavailable)
}
