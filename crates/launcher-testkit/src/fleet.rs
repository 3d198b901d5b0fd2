//! A fleet in memory that a test drives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use launcher_domain::{Clock, FailureCode, FailureReason};
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_workshop::{Phase, ResourceExt, Workshop, WorkshopStatus};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::TestClock;

/// A fleet in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct FakeFleet {
    state: Arc<Mutex<State>>,
    clock: Arc<TestClock>,
}

#[derive(Debug)]
struct State {
    workshops: BTreeMap<String, Workshop>,
    watchers: Vec<UnboundedSender<FleetEvent>>,
    created: usize,
    runs_at_once: bool,
}

impl FakeFleet {
    /// An empty fleet. With `runs_at_once` each Workshop is ready as soon as it is applied, else when the test says so.
    #[must_use]
    pub fn new(clock: Arc<TestClock>, runs_at_once: bool) -> Self {
        let state = State { workshops: BTreeMap::new(), watchers: Vec::new(), created: 0, runs_at_once };
        Self { state: Arc::new(Mutex::new(state)), clock }
    }

    /// The names of the Workshops there are.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().workshops.keys().cloned().collect()
    }

    /// How many Workshops were ever created.
    #[must_use]
    pub fn created(&self) -> usize {
        self.lock().created
    }

    /// The Workshop with this name.
    #[must_use]
    pub fn workshop(&self, name: &str) -> Option<Workshop> {
        self.lock().workshops.get(name).cloned()
    }

    /// Makes a Workshop ready.
    pub fn ready(&self, name: &str) {
        self.report(name, self.running(name));
    }

    /// Lets a Workshop fail, with these last lines of output.
    pub fn fail(&self, name: &str, code: FailureCode, log_tail: &str) {
        self.report(name, WorkshopStatus::failed(FailureReason::new(code, None), Some(log_tail.to_owned())));
    }

    /// Deletes a Workshop behind the service's back.
    pub fn lose(&self, name: &str) {
        self.lock().remove(name);
    }

    fn running(&self, name: &str) -> WorkshopStatus {
        WorkshopStatus {
            phase: Phase::Running,
            url: Some(format!("http://{name}.workshops.test/")),
            ready_at: Some(self.clock.now()),
            ..WorkshopStatus::default()
        }
    }

    fn report(&self, name: &str, status: WorkshopStatus) {
        let mut state = self.lock();
        let workshop = state.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"));
        workshop.status = Some(status);
        let event = FleetEvent::Applied(Box::new(workshop.clone()));
        state.tell(&event);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn tell(&mut self, event: &FleetEvent) {
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    fn remove(&mut self, name: &str) {
        if let Some(workshop) = self.workshops.remove(name) {
            self.tell(&FleetEvent::Deleted(Box::new(workshop)));
        }
    }
}

#[async_trait]
impl Fleet for FakeFleet {
    async fn apply(&self, wanted: &Workshop) -> Result<Workshop, FleetError> {
        let name = wanted.name_any();
        let running = self.running(&name);
        let mut state = self.lock();
        let mut workshop = wanted.clone();
        match state.workshops.get(&name) {
            Some(known) => {
                workshop.metadata.uid.clone_from(&known.metadata.uid);
                workshop.status.clone_from(&known.status);
            }
            None => {
                state.created += 1;
                workshop.metadata.uid = Some(format!("uid-{}", state.created));
                workshop.status = state.runs_at_once.then_some(running);
            }
        }
        state.workshops.insert(name, workshop.clone());
        state.tell(&FleetEvent::Applied(Box::new(workshop.clone())));
        Ok(workshop)
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let mut state = self.lock();
        let found = state.workshops.get(name).and_then(|workshop| workshop.metadata.uid.clone());
        if found.is_some() && (uid.is_none() || found.as_deref() == uid) {
            state.remove(name);
        }
        Ok(Deletion::Gone)
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.workshop(name))
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        let (watcher, events) = unbounded_channel();
        let mut state = self.lock();
        drop(watcher.send(FleetEvent::Relisted(state.workshops.values().cloned().collect())));
        state.watchers.push(watcher);
        UnboundedReceiverStream::new(events).boxed()
    }
}
