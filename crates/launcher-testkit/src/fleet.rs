//! An in-memory fleet that a test controls and disturbs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use launcher_domain::{Clock, FailureCode, FailureReason, StartStep};
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_workshop::{Phase, READY, ResourceExt, Workshop, WorkshopSpec, WorkshopStatus};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::TestClock;

/// An in-memory fleet. Clones share it.
#[derive(Debug, Clone)]
pub struct FakeFleet {
    name: &'static str,
    state: Arc<Mutex<State>>,
    clock: Arc<TestClock>,
}

#[derive(Debug)]
struct State {
    workshops: BTreeMap<String, Workshop>,
    /// Workshops that are unreadable until they are applied again.
    unreadable: BTreeSet<String>,
    watchers: Vec<UnboundedSender<FleetEvent>>,
    created: usize,
    applied: usize,
    runs_at_once: bool,
    /// Deletions stay in progress until the test finishes them.
    holds_deletions: bool,
    /// Faults of the next calls.
    faults: VecDeque<Fault>,
}

/// The fault of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing and returns an error.
    Unavailable,
    /// The call succeeds but returns an error.
    ErrorAfterSuccess,
    /// The call succeeds but never returns.
    HangAfterSuccess,
    /// The call does nothing and never returns.
    Hang,
    /// The Workshop is refused permanently.
    Refused,
}

impl FakeFleet {
    /// Creates an empty fleet. With `runs_at_once` each Workshop is ready as soon as it is applied, otherwise the test
    /// makes it ready.
    #[must_use]
    pub fn new(clock: Arc<TestClock>, runs_at_once: bool) -> Self {
        let state = State {
            workshops: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            watchers: Vec::new(),
            created: 0,
            applied: 0,
            runs_at_once,
            holds_deletions: false,
            faults: VecDeque::new(),
        };
        Self { name: "fake", state: Arc::new(Mutex::new(state)), clock }
    }

    /// Creates an empty fleet with another identity than [`FakeFleet::new`].
    #[must_use]
    pub fn named(name: &'static str, clock: Arc<TestClock>) -> Self {
        Self { name, ..Self::new(clock, false) }
    }

    /// The names of the existing Workshops.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().workshops.keys().cloned().collect()
    }

    /// Number of Workshops that were ever created.
    #[must_use]
    pub fn created(&self) -> usize {
        self.lock().created
    }

    /// Number of applies, with any result.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.lock().applied
    }

    /// Keeps later deletions in progress until [`FakeFleet::remove_workshop`] finishes each.
    pub fn hold_deletions(&self) {
        self.lock().holds_deletions = true;
    }

    /// Adds faults for the next calls, one for each.
    pub fn inject_faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.lock().faults.extend(faults);
    }

    /// True if no faults are left.
    #[must_use]
    pub fn is_fault_free(&self) -> bool {
        self.lock().faults.is_empty()
    }

    /// Removes all remaining faults.
    pub fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    /// The Workshop with this name.
    #[must_use]
    pub fn workshop(&self, name: &str) -> Option<Workshop> {
        self.lock().workshops.get(name).cloned()
    }

    /// Reports the start step of a Workshop, with the current time as its start.
    pub fn starting(&self, name: &str, step: StartStep) {
        let ready = Condition {
            type_: READY.to_owned(),
            status: "False".to_owned(),
            reason: "Starting".to_owned(),
            message: String::new(),
            last_transition_time: Time(self.clock.now()),
            observed_generation: None,
        };
        self.report(name, WorkshopStatus { conditions: vec![ready], ..WorkshopStatus::starting(step, None) });
    }

    /// Makes a Workshop ready.
    pub fn ready(&self, name: &str) {
        self.report(name, self.running(name));
    }

    /// Makes a Workshop fail, with these last lines of output.
    pub fn fail(&self, name: &str, code: FailureCode, log_tail: &str) {
        self.report(name, WorkshopStatus::failed(FailureReason::new(code, None), Some(log_tail.to_owned())));
    }

    /// Terminates a Workshop's workload because of its expiry.
    pub fn expire(&self, name: &str) {
        self.report(name, WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() });
    }

    /// Removes a Workshop without an event, as an interrupted watch misses it.
    pub fn remove_silently(&self, name: &str) {
        self.lock().workshops.remove(name);
    }

    /// Adds a Workshop that the service did not request.
    pub fn add_unrequested(&self, workshop: &Workshop) {
        self.lock().store(workshop, None);
    }

    /// Changes a Workshop's spec without the service, as an admin could. Watchers get the change.
    pub fn edit_spec(&self, name: &str, change: impl FnOnce(&mut WorkshopSpec)) {
        let mut state = self.lock();
        let workshop = state.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"));
        change(&mut workshop.spec);
        let event = FleetEvent::Applied(Box::new(workshop.clone()));
        state.notify(&event);
    }

    /// Makes a Workshop unreadable until it is applied again, and reports that in its status.
    pub fn make_unreadable(&self, name: &str) {
        let mut state = self.lock();
        let workshop = state.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"));
        let failed = WorkshopStatus::failed(FailureReason::new(FailureCode::InvalidSpec, None), None);
        workshop.status = Some(WorkshopStatus { observed_generation: Some(2), ..failed });
        state.unreadable.insert(name.to_owned());
    }

    /// Sends a complete list to all watchers.
    pub fn relist(&self) {
        let mut state = self.lock();
        let event = FleetEvent::Relisted(state.readable());
        state.notify(&event);
    }

    /// Deletes a Workshop without the service, or finishes a held deletion.
    pub fn remove_workshop(&self, name: &str) {
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
        state.notify(&event);
    }

    /// Applies, and returns the answer; `None` if there is no answer.
    fn applied_now(&self, wanted: &Workshop) -> Option<Result<Workshop, FleetError>> {
        let running = self.running(&wanted.name_any());
        let mut state = self.lock();
        if state.faults.pop_front_if(|fault| *fault == Fault::Hang).is_some() {
            return None;
        }
        state.applied += 1;
        let found = state.workshops.get(&wanted.name_any()).and_then(ResourceExt::uid);
        let is_gone = wanted.uid().is_some() && wanted.uid() != found;
        match state.faults.pop_front() {
            Some(Fault::Unavailable | Fault::Hang) => Some(Err(unavailable())),
            _ if is_gone => Some(Err(unavailable())),
            Some(Fault::Refused) => Some(Err(FleetError::Refused("the test says so".to_owned()))),
            Some(fault @ (Fault::ErrorAfterSuccess | Fault::HangAfterSuccess)) => {
                state.store(wanted, Some(running));
                (fault == Fault::ErrorAfterSuccess).then(|| Err(unavailable()))
            }
            None => Some(Ok(state.store(wanted, Some(running)))),
        }
    }

    /// Deletes, and returns the answer; `None` if there is no answer.
    fn deleted_now(&self, name: &str, uid: Option<&str>) -> Option<Result<Deletion, FleetError>> {
        let mut state = self.lock();
        let fault = state.faults.pop_front();
        if fault == Some(Fault::Hang) {
            return None;
        }
        if matches!(fault, Some(Fault::Unavailable | Fault::Refused)) {
            return Some(Err(unavailable()));
        }
        let found = state.workshops.get(name).and_then(|workshop| workshop.metadata.uid.clone());
        if found.is_none() || (uid.is_some() && found.as_deref() != uid) {
            return Some(Ok(Deletion::Gone));
        }
        if state.holds_deletions {
            return Some(Ok(Deletion::InProgress));
        }
        state.remove(name);
        match fault {
            Some(Fault::HangAfterSuccess) => None,
            Some(Fault::ErrorAfterSuccess) => Some(Err(unavailable())),
            _ => Some(Ok(Deletion::InProgress)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn notify(&mut self, event: &FleetEvent) {
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    fn readable(&self) -> Vec<Workshop> {
        let readable = self.workshops.iter().filter(|(name, _)| !self.unreadable.contains(*name));
        readable.map(|(_, workshop)| workshop.clone()).collect()
    }

    fn store(&mut self, wanted: &Workshop, running: Option<WorkshopStatus>) -> Workshop {
        let name = wanted.name_any();
        self.unreadable.remove(&name);
        let mut workshop = wanted.clone();
        match self.workshops.get(&name) {
            Some(known) => {
                workshop.metadata.uid.clone_from(&known.metadata.uid);
                workshop.status.clone_from(&known.status);
            }
            None => {
                self.created += 1;
                workshop.metadata.uid = Some(format!("uid-{}", self.created));
                workshop.status = running.filter(|_| self.runs_at_once);
            }
        }
        self.workshops.insert(name, workshop.clone());
        self.notify(&FleetEvent::Applied(Box::new(workshop.clone())));
        workshop
    }

    fn remove(&mut self, name: &str) {
        if let Some(workshop) = self.workshops.remove(name) {
            self.notify(&FleetEvent::Deleted(Box::new(workshop)));
        }
    }
}

fn unavailable() -> FleetError {
    FleetError::Unavailable("the test says so".to_owned())
}

#[async_trait]
impl Fleet for FakeFleet {
    async fn apply(&self, wanted: &Workshop) -> Result<Workshop, FleetError> {
        match self.applied_now(wanted) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        match self.deleted_now(name, uid) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        if self.lock().unreadable.contains(name) {
            return Err(FleetError::Refused("the test says that it cannot be read".to_owned()));
        }
        Ok(self.workshop(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.name.to_owned())
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        let (watcher, events) = unbounded_channel();
        let mut state = self.lock();
        drop(watcher.send(FleetEvent::Relisted(state.readable())));
        state.watchers.push(watcher);
        UnboundedReceiverStream::new(events).boxed()
    }
}
