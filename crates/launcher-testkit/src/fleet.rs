//! A fleet without workloads, which a test drives and disturbs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use jiff::Timestamp;
use launcher_domain::FailureReason;
use launcher_fleet::{Deletion, Fleet, FleetError, FleetEvent};
use launcher_workshop::{Phase, ResourceExt, Workshop, WorkshopSpec, WorkshopStatus};
use tokio::sync::mpsc;
use uuid::Uuid;

/// A fleet in memory. What it is told to make becomes ready when the test says so, or at once with
/// [`FakeFleet::start_at_once`].
#[derive(Debug, Clone, Default)]
pub struct FakeFleet(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    workshops: BTreeMap<String, Workshop>,
    watchers: Vec<mpsc::UnboundedSender<FleetEvent>>,
    starts_at_once: Option<Timestamp>,
    /// Deletions stay under way until the test finishes them.
    holds_deletions: bool,
    /// How many calls are answered with an error, after they were done or instead of being done.
    faults: Vec<Fault>,
    applied: usize,
    number: u128,
}

/// What goes wrong with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and the answer is an error.
    Unavailable,
    /// It is done, and the answer is an error all the same.
    LostAnswer,
    /// The Workshop is refused for good.
    Refused,
}

impl FakeFleet {
    /// An empty fleet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on every Workshop is ready as soon as it is made, at this time.
    pub fn start_at_once(&self, ready_at: Timestamp) {
        self.state().starts_at_once = Some(ready_at);
    }

    /// From now on deletions stay under way until [`FakeFleet::finish_deletion`].
    pub fn hold_deletions(&self) {
        self.state().holds_deletions = true;
    }

    /// The next calls go wrong, one after the other.
    pub fn disturb(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// Makes a Workshop ready.
    pub fn ready(&self, name: &str, ready_at: Timestamp) {
        let url = Some(format!("http://{name}.workshops.test/"));
        self.report(
            name,
            WorkshopStatus { phase: Phase::Running, url, ready_at: Some(ready_at), ..Default::default() },
        );
    }

    /// Makes a Workshop fail.
    pub fn fail(&self, name: &str, reason: FailureReason, log_tail: Option<&str>) {
        self.report(name, WorkshopStatus::failed(reason, log_tail.map(str::to_owned)));
    }

    /// Ends a Workshop's workload because its time is up.
    pub fn expire(&self, name: &str) {
        self.report(name, WorkshopStatus { phase: Phase::Expired, ..Default::default() });
    }

    /// Sets a Workshop's status.
    pub fn report(&self, name: &str, status: WorkshopStatus) {
        let mut state = self.state();
        let workshop = state.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"));
        workshop.status = Some(status);
        let workshop = workshop.clone();
        state.tell(&FleetEvent::Applied(Box::new(workshop)));
    }

    /// Deletes a Workshop from outside, or finishes a deletion that is held.
    pub fn finish_deletion(&self, name: &str) {
        let mut state = self.state();
        if let Some(workshop) = state.workshops.remove(name) {
            state.tell(&FleetEvent::Deleted(Box::new(workshop)));
        }
    }

    /// Removes a Workshop without telling anybody: what a watch that was interrupted missed.
    pub fn vanish(&self, name: &str) {
        self.state().workshops.remove(name);
    }

    /// Puts a Workshop there that nobody asked for.
    pub fn intrude(&self, workshop: Workshop) {
        let mut state = self.state();
        let workshop = state.identified(workshop);
        state.workshops.insert(workshop.name_any(), workshop.clone());
        state.tell(&FleetEvent::Applied(Box::new(workshop)));
    }

    /// Changes a Workshop's spec from outside.
    pub fn tamper(&self, name: &str, change: impl FnOnce(&mut WorkshopSpec)) {
        let mut state = self.state();
        let workshop = state.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"));
        change(&mut workshop.spec);
    }

    /// Tells all watchers everything anew.
    pub fn relist(&self) {
        let mut state = self.state();
        let event = FleetEvent::Relisted(state.workshops.values().cloned().collect());
        state.tell(&event);
    }

    /// The Workshop with this name.
    #[must_use]
    pub fn workshop(&self, name: &str) -> Option<Workshop> {
        self.state().workshops.get(name).cloned()
    }

    /// The names of all Workshops.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.state().workshops.keys().cloned().collect()
    }

    /// How often a Workshop was applied, whatever the answer.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.state().applied
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    fn tell(&mut self, event: &FleetEvent) {
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    fn identified(&mut self, mut workshop: Workshop) -> Workshop {
        self.number += 1;
        workshop.metadata.uid = Some(Uuid::from_u128(self.number).to_string());
        workshop
    }

    fn next_fault(&mut self) -> Option<Fault> {
        (!self.faults.is_empty()).then(|| self.faults.remove(0))
    }

    fn store(&mut self, wanted: &Workshop) -> Workshop {
        let name = wanted.name_any();
        let mut workshop = match self.workshops.get(&name) {
            Some(existing) => Workshop { spec: wanted.spec.clone(), ..existing.clone() },
            None => self.identified(wanted.clone()),
        };
        if workshop.status.is_none()
            && let Some(ready_at) = self.starts_at_once
        {
            let url = Some(format!("http://{name}.workshops.test/"));
            let status = WorkshopStatus { phase: Phase::Running, url, ready_at: Some(ready_at), ..Default::default() };
            workshop.status = Some(status);
        }
        self.workshops.insert(name, workshop.clone());
        self.tell(&FleetEvent::Applied(Box::new(workshop.clone())));
        workshop
    }
}

fn unavailable() -> FleetError {
    FleetError::Unavailable("the test says so".to_owned())
}

#[async_trait]
impl Fleet for FakeFleet {
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError> {
        let mut state = self.state();
        state.applied += 1;
        match state.next_fault() {
            Some(Fault::Unavailable) => Err(unavailable()),
            Some(Fault::Refused) => Err(FleetError::Refused("the test says so".to_owned())),
            Some(Fault::LostAnswer) => {
                state.store(workshop);
                Err(unavailable())
            }
            None => Ok(state.store(workshop)),
        }
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let mut state = self.state();
        let fault = state.next_fault();
        if matches!(fault, Some(Fault::Unavailable | Fault::Refused)) {
            return Err(unavailable());
        }
        let found = state.workshops.get(name).filter(|workshop| uid.is_none() || workshop.uid().as_deref() == uid);
        let Some(workshop) = found.cloned() else { return Ok(Deletion::Gone) };
        if state.holds_deletions {
            return Ok(Deletion::InProgress);
        }
        state.workshops.remove(name);
        state.tell(&FleetEvent::Deleted(Box::new(workshop)));
        if fault == Some(Fault::LostAnswer) { Err(unavailable()) } else { Ok(Deletion::InProgress) }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        Ok(self.workshop(name))
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut state = self.state();
        let first = FleetEvent::Relisted(state.workshops.values().cloned().collect());
        state.watchers.push(sender);
        stream::iter([first]).chain(stream::poll_fn(move |cx| receiver.poll_recv(cx))).boxed()
    }
}
