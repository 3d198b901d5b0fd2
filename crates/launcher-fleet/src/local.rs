//! The fleet `local`: Workshops as processes of this machine, for development and for a single trusted user.
//!
//! **It does not isolate workshops from each other.** Every workshop runs as the launcher's user and may read that
//! user's files. Its app is reachable on its loopback port by every program of this machine; JupyterLab requires a
//! token there. The Workshop is the same as on a cluster: the same spec and status, its own origin, and the same
//! sidecar (see [`Gateway`]).
//!
//! One task per Workshop (the supervisor) starts its process group, waits until it answers, terminates it at its
//! expiry, and explains its failure. Its state is in one file per Workshop, written before the change is visible to
//! others. So after a kill the next launcher adopts the running Workshops. The fleet reads `/proc` and therefore runs
//! on Linux only.

mod command;
mod data_dir_identity;
mod doctor;
mod exit;
mod gateway;
mod jupyter;
pub mod keeper;
mod layout;
mod listener;
mod log;
mod login;
mod open;
mod pages;
mod ports;
mod process;
mod process_snapshot;
mod readiness;
mod settings;
mod start;
mod state;
mod supervisor;
mod termination;
mod watch_cache;
mod workload;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::{is_k8s_name, uuid_v7};
use launcher_process::stop::Stop;
use launcher_workshop::{ResourceExt, Workshop, WorkshopStatus};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::port::{Deletion, Fleet, FleetError, FleetEvent, GONE};
pub use doctor::{LocalExamination, ProgramFault};
pub use gateway::Gateway;
use layout::Layout;
use ports::PortPool;
use process_snapshot::ProcessScanner;
pub use settings::{LocalFleetError, LocalSettings};
use state::{Record, StateError};
use supervisor::Supervisor;
use watch_cache::WatchCache;
use workload::{DesiredState, Workload};

/// Workshops as processes of this machine. Cheap to clone; one per data directory.
///
/// Dropping every clone leaves the processes running. Call [`LocalFleet::stop`] before the program ends, unless the
/// next [`LocalFleet::open`] shall adopt them.
#[derive(Debug, Clone)]
pub struct LocalFleet(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    context: Arc<Context>,
    workloads: Mutex<BTreeMap<String, Arc<Workload>>>,
    cache: Arc<WatchCache>,
    /// Held while a Workshop is created, changed or marked for deletion; true once the fleet is stopping.
    closed: tokio::sync::Mutex<bool>,
    tasks: TaskTracker,
}

/// Immutable data shared by all parts of a fleet.
#[derive(Debug)]
struct Context {
    settings: LocalSettings,
    layout: Layout,
    /// Identity of the fleet, to which the rows of the database belong.
    fleet_id: String,
    /// In the environment of every process that was started from this data directory, and of no other process.
    data_dir_id: String,
    clock: Arc<dyn Clock>,
    ports: PortPool,
    scanner: ProcessScanner,
    stop: Stop,
    /// Cancelled once the fleet stops.
    closing: CancellationToken,
    /// Held while this fleet is open. The kernel releases it when the program ends, even after a crash.
    _lock: std::fs::File,
}

impl LocalFleet {
    /// Returns the gateway, which serves the workshops' origins.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(Arc::clone(&self.0))
    }

    /// Stops the fleet: terminates the processes of all Workshops concurrently and keeps the Workshops, so that the
    /// next [`LocalFleet::open`] restarts them in the same directories. Streams of [`Fleet::watch`] end, and further
    /// changes are refused. Takes as long as the slowest process, at most a little more than the setting `stop_grace`.
    pub async fn stop(&self) {
        *self.0.closed.lock().await = true;
        self.0.context.closing.cancel();
        for workload in self.0.workloads() {
            workload.set_desired_state(DesiredState::Stopped);
        }
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.cache.close();
    }
}

#[async_trait]
impl Fleet for LocalFleet {
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let inner = Arc::clone(&self.0);
        let workshop = workshop.clone();
        // In a separate task: a cancelled caller must not leave a Workshop that is stored but not supervised.
        finish(tokio::spawn(async move { inner.apply(workshop).await })).await
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let inner = Arc::clone(&self.0);
        let (name, uid) = (name.to_owned(), uid.map(str::to_owned));
        finish(tokio::spawn(async move { inner.delete(&name, uid.as_deref()).await })).await
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.0.cache.get(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.0.context.fleet_id.clone())
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        self.0.cache.watch()
    }
}

async fn finish<T>(task: tokio::task::JoinHandle<Result<T, FleetError>>) -> Result<T, FleetError> {
    task.await.unwrap_or_else(|error| Err(FleetError::Unavailable(format!("the call broke off ({error})"))))
}

impl Inner {
    fn workload(&self, name: &str) -> Option<Arc<Workload>> {
        workload::lock(&self.workloads).get(name).cloned()
    }

    fn workloads(&self) -> Vec<Arc<Workload>> {
        workload::lock(&self.workloads).values().cloned().collect()
    }

    async fn apply(self: &Arc<Self>, wanted: Workshop) -> Result<Workshop, FleetError> {
        let closed = self.closed.lock().await;
        if *closed {
            return Err(FleetError::Unavailable("the local fleet is stopping".to_owned()));
        }
        let name = wanted.name_any();
        validate(&name, &wanted)?;
        match (self.workload(&name), wanted.uid()) {
            (Some(workload), uid) if uid.is_none() || workload.workshop().uid() == uid => {
                update_spec(&workload, wanted).await
            }
            (None, None) => self.create(name, wanted).await,
            _ => Err(FleetError::Unavailable(GONE.to_owned())),
        }
    }

    async fn create(self: &Arc<Self>, name: String, wanted: Workshop) -> Result<Workshop, FleetError> {
        let mut workshop = Workshop::new(&name, wanted.spec);
        workshop.metadata.labels = wanted.metadata.labels;
        workshop.metadata.uid = Some(uuid_v7(&*self.context.clock, &SystemEntropy).to_string());
        workshop.metadata.generation = Some(1);
        workshop.metadata.creation_timestamp = Some(Time(self.context.clock.now()));
        workshop.status = Some(WorkshopStatus::default());
        let record = Record { workshop: workshop.clone(), process: None };
        let workload = Arc::new(Workload::new(name, Arc::clone(&self.context), Arc::clone(&self.cache), record));
        workload.store().await.map_err(unavailable)?;
        self.supervise(workload, None);
        Ok(workshop)
    }

    /// Announces a stored Workshop to the watchers and starts its supervisor.
    fn supervise(self: &Arc<Self>, workload: Arc<Workload>, adopted: Option<exit::ExitWatch>) {
        self.cache.insert(workload.workshop());
        workload::lock(&self.workloads).insert(workload.name().to_owned(), Arc::clone(&workload));
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            if Supervisor::new(Arc::clone(&workload), adopted).run().await.is_gone() {
                inner.forget(&workload);
            }
        });
    }

    fn forget(&self, workload: &Workload) {
        // Under the lock of the list, so that a new Workshop of this name is announced after the deletion of this one.
        let mut workloads = workload::lock(&self.workloads);
        workloads.remove(workload.name());
        self.cache.remove(workload.name());
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let _closed = self.closed.lock().await;
        let Some(workload) = self.workload(name) else { return Ok(Deletion::Gone) };
        if uid.is_some() && workload.workshop().metadata.uid.as_deref() != uid {
            return Ok(Deletion::Gone);
        }
        let now = Time(self.context.clock.now());
        let mark = move |record: &mut Record| {
            record.workshop.metadata.deletion_timestamp.get_or_insert(now);
        };
        workload.update(mark).await.map_err(unavailable)?;
        workload.set_desired_state(DesiredState::Deleted);
        Ok(Deletion::InProgress)
    }
}

fn unavailable(error: StateError) -> FleetError {
    FleetError::Unavailable(error.to_string())
}

/// Refuses a Workshop that can never run. Its name becomes a host and a directory, and its owner decides who has
/// access.
fn validate(name: &str, wanted: &Workshop) -> Result<(), FleetError> {
    if !is_k8s_name(name) {
        return Err(FleetError::Refused(format!("its name {name:?} is not a DNS label")));
    }
    if wanted.spec.owner_email().is_none() {
        return Err(FleetError::Refused("spec.owner is not an e-mail address".to_owned()));
    }
    Ok(())
}

/// Changes the spec of a Workshop. Its processes keep running: only the expiry (`expiresAt`, `lifetimeSeconds`) takes
/// effect.
async fn update_spec(workload: &Arc<Workload>, wanted: Workshop) -> Result<Workshop, FleetError> {
    let current = workload.workshop();
    if current.metadata.deletion_timestamp.is_some() {
        return Err(FleetError::Unavailable("the Workshop of this name is being deleted".to_owned()));
    }
    if current.spec.owner != wanted.spec.owner || current.spec.image != wanted.spec.image {
        return Err(FleetError::Refused("spec.owner and spec.image cannot be changed".to_owned()));
    }
    let update = move |record: &mut Record| {
        let workshop = &mut record.workshop;
        if workshop.spec != wanted.spec {
            workshop.spec = wanted.spec;
            workshop.metadata.generation = workshop.metadata.generation.map(|generation| generation + 1);
            let generation = workshop.metadata.generation;
            workshop.status.get_or_insert_default().observed_generation = generation;
        }
        workshop.clone()
    };
    workload.update(update).await.map_err(unavailable)
}
