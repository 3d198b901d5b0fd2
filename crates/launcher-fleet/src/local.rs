//! The fleet `local`: Workshops as processes of this machine, for development and for a single trusted person.
//!
//! **It isolates nobody.** Every workshop runs as the user of the launcher, may read what that user may read, and its
//! app is reachable on its loopback port by every program of this machine; JupyterLab asks for a token there. What it
//! shares with a cluster is the Workshop: the same spec, the same status, an origin of its own, and the same sidecar in
//! front (see [`Gateway`]).
//!
//! One task per Workshop (the supervisor) starts its process group, waits until it answers, ends it when its time is up,
//! and explains its failure. What it knows is in one file per Workshop, written before anybody is told, so that a
//! launcher that was killed takes its running Workshops up again. It reads `/proc` and so runs on Linux only.

mod board;
mod census;
mod command;
mod doctor;
mod ending;
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
mod place;
mod ports;
mod process;
mod readiness;
mod settings;
mod shop;
mod start;
mod state;
mod supervisor;

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
use board::Board;
use census::CensusTaker;
pub use doctor::{LocalExamination, ProgramFault};
pub use gateway::Gateway;
use layout::Layout;
use ports::Ports;
pub use settings::{LocalFleetError, LocalSettings};
use shop::{Shop, Wish};
use state::{Record, StateError};
use supervisor::Supervisor;

/// Workshops as processes of this machine. Cheap to clone; one per data directory.
///
/// Dropping every clone ends nothing: call [`LocalFleet::stop`] before the program ends, unless its workshops are to
/// live on until the next [`LocalFleet::open`] adopts them.
#[derive(Debug, Clone)]
pub struct LocalFleet(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    context: Arc<Context>,
    shops: Mutex<BTreeMap<String, Arc<Shop>>>,
    board: Arc<Board>,
    /// Held while a Workshop is created, changed or marked for deletion; true once the fleet is stopping.
    closed: tokio::sync::Mutex<bool>,
    tasks: TaskTracker,
}

/// What all parts of a fleet share and never change.
#[derive(Debug)]
struct Context {
    settings: LocalSettings,
    layout: Layout,
    /// Whose the rows of the database are.
    fleet_id: String,
    /// In the environment of every process that was started from this data directory, and of no other's.
    place_id: String,
    clock: Arc<dyn Clock>,
    ports: Ports,
    census: CensusTaker,
    stop: Stop,
    /// Cancelled once the fleet stops.
    closing: CancellationToken,
    /// Held for as long as this fleet is open; the kernel lets go of it when the program ends, however it ends.
    _lock: std::fs::File,
}

impl LocalFleet {
    /// Serves the origins of the workshops.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(Arc::clone(&self.0))
    }

    /// A planned stop: ends the processes of all Workshops at the same time and keeps the Workshops, so that the next
    /// [`LocalFleet::open`] brings them back in the same directories. Streams of [`Fleet::watch`] end, and nothing is
    /// accepted any more. Takes as long as the slowest process, at most a little more than the setting `stop_grace`.
    pub async fn stop(&self) {
        *self.0.closed.lock().await = true;
        self.0.context.closing.cancel();
        for shop in self.0.all() {
            shop.wish_for(Wish::Rest);
        }
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.board.close();
    }
}

#[async_trait]
impl Fleet for LocalFleet {
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let inner = Arc::clone(&self.0);
        let workshop = workshop.clone();
        // In a task of its own: a caller that goes away must not leave a Workshop that is stored but not supervised.
        finish(tokio::spawn(async move { inner.apply(workshop).await })).await
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let inner = Arc::clone(&self.0);
        let (name, uid) = (name.to_owned(), uid.map(str::to_owned));
        finish(tokio::spawn(async move { inner.delete(&name, uid.as_deref()).await })).await
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.0.board.get(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.0.context.fleet_id.clone())
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        self.0.board.watch()
    }
}

async fn finish<T>(task: tokio::task::JoinHandle<Result<T, FleetError>>) -> Result<T, FleetError> {
    task.await.unwrap_or_else(|error| Err(FleetError::Unavailable(format!("the call broke off ({error})"))))
}

impl Inner {
    fn shop(&self, name: &str) -> Option<Arc<Shop>> {
        shop::lock(&self.shops).get(name).cloned()
    }

    fn all(&self) -> Vec<Arc<Shop>> {
        shop::lock(&self.shops).values().cloned().collect()
    }

    async fn apply(self: &Arc<Self>, wanted: Workshop) -> Result<Workshop, FleetError> {
        let closed = self.closed.lock().await;
        if *closed {
            return Err(FleetError::Unavailable("the local fleet is stopping".to_owned()));
        }
        let name = wanted.name_any();
        accept(&name, &wanted)?;
        match (self.shop(&name), wanted.uid()) {
            (Some(shop), uid) if uid.is_none() || shop.workshop().uid() == uid => change(&shop, wanted).await,
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
        let shop = Arc::new(Shop::new(name, Arc::clone(&self.context), Arc::clone(&self.board), record));
        shop.store().await.map_err(unavailable)?;
        self.supervise(shop, None);
        Ok(workshop)
    }

    /// Takes a stored Workshop up: everybody is told, and a task looks after it.
    fn supervise(self: &Arc<Self>, shop: Arc<Shop>, adopted: Option<exit::ExitWatch>) {
        self.board.applied(shop.workshop());
        shop::lock(&self.shops).insert(shop.name().to_owned(), Arc::clone(&shop));
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            if Supervisor::new(Arc::clone(&shop), adopted).run().await.is_gone() {
                inner.forget(&shop);
            }
        });
    }

    fn forget(&self, shop: &Shop) {
        // Under the lock of the list, so that a new Workshop of this name is announced after the end of this one.
        let mut shops = shop::lock(&self.shops);
        shops.remove(shop.name());
        self.board.deleted(shop.name());
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let _closed = self.closed.lock().await;
        let Some(shop) = self.shop(name) else { return Ok(Deletion::Gone) };
        if uid.is_some() && shop.workshop().metadata.uid.as_deref() != uid {
            return Ok(Deletion::Gone);
        }
        let now = Time(self.context.clock.now());
        let mark = move |record: &mut Record| {
            record.workshop.metadata.deletion_timestamp.get_or_insert(now);
        };
        shop.update(mark).await.map_err(unavailable)?;
        shop.wish_for(Wish::Delete);
        Ok(Deletion::InProgress)
    }
}

fn unavailable(error: StateError) -> FleetError {
    FleetError::Unavailable(error.to_string())
}

/// Refuses what can never run: its name becomes a host and a directory, and its owner decides who gets through.
fn accept(name: &str, wanted: &Workshop) -> Result<(), FleetError> {
    if !is_k8s_name(name) {
        return Err(FleetError::Refused(format!("its name {name:?} is not a DNS label")));
    }
    if wanted.spec.owner_email().is_none() {
        return Err(FleetError::Refused("spec.owner is not an e-mail address".to_owned()));
    }
    Ok(())
}

/// Gives a Workshop another spec. What runs goes on: only its end (`expiresAt`, `lifetimeSeconds`) takes effect.
async fn change(shop: &Arc<Shop>, wanted: Workshop) -> Result<Workshop, FleetError> {
    let current = shop.workshop();
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
    shop.update(update).await.map_err(unavailable)
}
