//! The registry: all Workshops of an open fleet, and their supervisor tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use launcher_domain::SecretValues;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::crash::CrashHistory;
use launcher_domain::names::{is_k8s_name, uuid_v7};
use launcher_domain::sync::lock;
use launcher_process::stop::Stop;
use launcher_workshop::{ResourceExt, Workshop, WorkshopSpec, WorkshopStatus};
use tokio_util::task::TaskTracker;

use super::backend::Backend;
use super::data_dir::DataDir;
use super::gateway::{Origins, SidecarConnector};
use super::origins::OriginSettings;
use super::record::{Record, StateError, StoredRecord};
use super::supervise::{Remainder, supervise};
use super::watch_cache::WatchCache;
use super::workload::{DesiredState, Shared, Workload};
use crate::port::{Deletion, FleetError, GONE, check_readable, missing, validate_volume};

pub(crate) struct Registry<B: Backend> {
    pub(crate) shared: Arc<Shared<B>>,
    workloads: Mutex<BTreeMap<String, Arc<Workload<B>>>>,
    pub(crate) cache: Arc<WatchCache>,
    /// True once the fleet is stopping. The lock is held while a Workshop is created, changed or marked for deletion.
    closed: tokio::sync::Mutex<bool>,
    pub(crate) tasks: TaskTracker,
}

impl<B: Backend> Registry<B> {
    pub(crate) fn new(shared: Shared<B>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(shared),
            workloads: Mutex::new(BTreeMap::new()),
            cache: WatchCache::new(),
            closed: tokio::sync::Mutex::new(false),
            tasks: TaskTracker::new(),
        })
    }

    fn data_dir(&self) -> &DataDir {
        &self.shared.data_dir
    }

    /// Creates the workload of a stored Workshop. No task supervises it yet.
    pub(crate) fn create_workload(&self, name: String, record: Record<B::Process>) -> Arc<Workload<B>> {
        let DataDir { layout, closing, .. } = self.data_dir();
        let record = StoredRecord::new(name, layout.clone(), closing.clone(), Arc::clone(&self.cache), record);
        Arc::new(Workload::new(Arc::clone(&self.shared), record))
    }

    pub(crate) fn workload(&self, name: &str) -> Option<Arc<Workload<B>>> {
        lock(&self.workloads).get(name).cloned()
    }

    pub(crate) fn workloads(&self) -> Vec<Arc<Workload<B>>> {
        lock(&self.workloads).values().cloned().collect()
    }

    /// Creates or updates a Workshop. Implements [`Fleet::apply`](crate::Fleet::apply).
    pub(crate) async fn apply(
        self: &Arc<Self>,
        wanted: Workshop,
        secrets: SecretValues,
    ) -> Result<Workshop, FleetError> {
        let closed = self.closed.lock().await;
        if *closed {
            return Err(FleetError::Unavailable("the fleet is stopping".to_owned()));
        }
        let name = wanted.name_any();
        validate(&name, &wanted)?;
        match (self.workload(&name), wanted.uid()) {
            (Some(workload), uid) if uid.is_none() || workload.record.workshop().uid() == uid => {
                update_spec(&workload, wanted).await
            }
            (None, None) => self.create(name, wanted, secrets).await,
            _ => Err(FleetError::Unavailable(GONE.to_owned())),
        }
    }

    async fn create(
        self: &Arc<Self>,
        name: String,
        wanted: Workshop,
        secrets: SecretValues,
    ) -> Result<Workshop, FleetError> {
        if let Some(missing) = wanted.spec.secret_env.iter().find(|name| !secrets.contains(name)) {
            return Err(FleetError::Refused(format!("the secret variable {missing} has no value")));
        }
        let mut workshop = Workshop::new(&name, wanted.spec);
        workshop.metadata.labels = wanted.metadata.labels;
        workshop.metadata.annotations = wanted.metadata.annotations;
        workshop.metadata.uid = Some(uuid_v7(&*self.data_dir().clock, &SystemEntropy).to_string());
        workshop.metadata.generation = Some(1);
        workshop.metadata.creation_timestamp = Some(Time(self.data_dir().clock.now()));
        workshop.status = Some(WorkshopStatus::default());
        let record = Record {
            workshop: workshop.clone(),
            secrets,
            process: None,
            final_status: None,
            is_restored: false,
            crashes: CrashHistory::default(),
        };
        let workload = self.create_workload(name, record);
        workload.record.store().await.map_err(unavailable)?;
        self.supervise(&workload);
        Ok(workshop)
    }

    /// Announces a stored Workshop to the watchers and starts its supervisor.
    pub(crate) fn supervise(self: &Arc<Self>, workload: &Arc<Workload<B>>) {
        self.cache.insert(workload.record.workshop());
        lock(&self.workloads).insert(workload.name().to_owned(), Arc::clone(workload));
        let (registry, workload) = (Arc::clone(self), Arc::clone(workload));
        self.tasks.spawn(async move {
            if supervise(Arc::clone(&workload)).await == Remainder::Nothing {
                registry.forget(&workload);
            }
        });
    }

    fn forget(&self, workload: &Workload<B>) {
        // Keep the lock until the end: watchers must see this deletion before a new Workshop with the same name.
        let mut workloads = lock(&self.workloads);
        workloads.remove(workload.name());
        self.cache.remove(workload.name());
    }

    /// Marks a Workshop for deletion. Implements [`Fleet::delete`](crate::Fleet::delete).
    pub(crate) async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let _closed = self.closed.lock().await;
        let Some(workload) = self.workload(name) else { return Ok(Deletion::Gone) };
        if uid.is_some() && workload.record.workshop().metadata.uid.as_deref() != uid {
            return Ok(Deletion::Gone);
        }
        let now = Time(self.data_dir().clock.now());
        let mark = move |record: &mut Record<B::Process>| {
            record.workshop.metadata.deletion_timestamp.get_or_insert(now);
        };
        workload.record.update(mark).await.map_err(unavailable)?;
        workload.advance(DesiredState::Deleted);
        Ok(Deletion::InProgress)
    }

    /// Returns the workload whose files [`Archives::read_app`](crate::Archives::read_app) reads.
    pub(crate) fn readable(&self, name: &str) -> Result<Arc<Workload<B>>, FleetError> {
        let workload = self.workload(name).ok_or_else(|| missing(name))?;
        check_readable(&workload.record.workshop())?;
        Ok(workload)
    }

    /// Checks that a volume can be deleted: that no Workshop has it, except for failed and expired ones, whose workloads
    /// are gone.
    pub(crate) fn check_unused(&self, volume: &str) -> Result<(), FleetError> {
        validate_volume(volume)?;
        let uses = |workload: &&Arc<Workload<B>>| {
            let storage = workload.record.workshop().spec.storage;
            storage.is_some_and(|storage| storage.volume == volume) && !workload.record.phase().is_final()
        };
        match self.workloads().iter().find(uses) {
            Some(workload) => Err(FleetError::Unavailable(format!("the Workshop {} uses the volume", workload.name()))),
            None => Ok(()),
        }
    }

    /// Stops all supervisors concurrently, and waits for them. The Workshops stay stored. Further changes are refused.
    pub(crate) async fn stop(&self) {
        *self.closed.lock().await = true;
        self.data_dir().closing.cancel();
        for workload in self.workloads() {
            workload.advance(DesiredState::Stopped);
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.cache.close();
    }
}

impl<B: Backend> fmt::Debug for Registry<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl<B: Backend> Origins for Registry<B> {
    fn settings(&self) -> &OriginSettings {
        &self.shared.settings.origins
    }

    fn workshop(&self, name: &str) -> Option<Workshop> {
        self.cache.get(name)
    }

    fn connector(&self, name: &str) -> Option<Arc<dyn SidecarConnector>> {
        self.workload(name)?.connector()
    }

    fn stop(&self) -> &Stop {
        &self.shared.stop
    }
}

/// Waits for the task of a change. The task finishes the change even if the caller is cancelled; otherwise a Workshop
/// could be stored without a supervisor.
pub(super) async fn finish<T: Send + 'static>(
    change: impl Future<Output = Result<T, FleetError>> + Send + 'static,
) -> Result<T, FleetError> {
    let outcome = tokio::spawn(change).await;
    outcome.unwrap_or_else(|error| Err(FleetError::Unavailable(format!("the call was aborted: {error}"))))
}

fn unavailable(error: StateError) -> FleetError {
    FleetError::Unavailable(error.to_string())
}

/// Refuses a Workshop that can never run. The name must be valid, because it becomes a host and a directory. The owner
/// must be valid, because only the owner gets access.
fn validate(name: &str, wanted: &Workshop) -> Result<(), FleetError> {
    if !is_k8s_name(name) {
        return Err(FleetError::Refused(format!("the Workshop's name {name:?} is not a DNS label")));
    }
    if wanted.spec.owner_email().is_none() {
        return Err(FleetError::Refused("spec.owner is not an e-mail address".to_owned()));
    }
    if let Some(storage) = &wanted.spec.storage {
        validate_volume(&storage.volume)?;
    }
    Ok(())
}

/// Changes spec, labels and annotations of a Workshop. Its app keeps running. Of the new spec, only the expiry
/// (`expiresAt`, `lifetimeSeconds`) applies to it.
async fn update_spec<B: Backend>(workload: &Arc<Workload<B>>, wanted: Workshop) -> Result<Workshop, FleetError> {
    let current = workload.record.workshop();
    if current.metadata.deletion_timestamp.is_some() {
        return Err(FleetError::Unavailable("the Workshop of this name is being deleted".to_owned()));
    }
    let WorkshopSpec { owner, image, storage, .. } = &current.spec;
    if (owner, image, storage) != (&wanted.spec.owner, &wanted.spec.image, &wanted.spec.storage) {
        return Err(FleetError::Refused("spec.owner, spec.image and spec.storage cannot be changed".to_owned()));
    }
    let update = move |record: &mut Record<B::Process>| {
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
    workload.record.update(update).await.map_err(unavailable)
}
