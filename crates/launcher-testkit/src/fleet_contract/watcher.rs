//! A watch of the fleet that keeps the latest state of each Workshop from its events.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use launcher_fleet::{Fleet, FleetEvent};
use launcher_workshop::{Phase, ResourceExt, Workshop, WorkshopSpec};
use tokio::time::timeout;

use crate::DEADLINE;

/// An open watch, and all Workshops according to its events.
pub(super) struct Watcher {
    events: BoxStream<'static, FleetEvent>,
    known: BTreeMap<String, Workshop>,
}

impl Watcher {
    /// Opens a watch and reads its first event, which must list all Workshops.
    pub(super) async fn open(fleet: &dyn Fleet) -> Self {
        let mut watcher = Self { events: fleet.watch(), known: BTreeMap::new() };
        let first = watcher.next("the first list").await;
        assert!(matches!(first, FleetEvent::Relisted(_)), "a watch begins with a list, not with {first:?}");
        watcher
    }

    /// Receives one event, updates the known Workshops, and returns the event.
    pub(super) async fn next(&mut self, what: &str) -> FleetEvent {
        let event = timeout(DEADLINE, self.events.next()).await;
        let event = event.unwrap_or_else(|_| panic!("no event while waiting for {what}"));
        let event = event.unwrap_or_else(|| panic!("the watch ended while waiting for {what}"));
        match &event {
            FleetEvent::Relisted(all) => {
                self.known = all.iter().map(|workshop| (workshop.name_any(), workshop.clone())).collect();
            }
            FleetEvent::Applied(workshop) => drop(self.known.insert(workshop.name_any(), (**workshop).clone())),
            FleetEvent::Deleted(workshop) => {
                let known = self.known.remove(&workshop.name_any());
                assert_eq!(known.and_then(|known| known.uid()), workshop.uid(), "another Workshop was deleted");
            }
        }
        event
    }

    /// Returns the Workshop with this name as last reported.
    pub(super) fn known(&self, name: &str) -> Option<&Workshop> {
        self.known.get(name)
    }

    /// Waits until the Workshop with this name is reported with this spec.
    pub(super) async fn until_spec(&mut self, name: &str, spec: &WorkshopSpec) {
        while self.known(name).is_none_or(|workshop| workshop.spec != *spec) {
            self.next(&format!("the spec of {name}")).await;
        }
    }

    /// Waits until the Workshop with this name is reported in this phase, and returns it.
    pub(super) async fn until_phase(&mut self, name: &str, phase: Phase) -> Workshop {
        let waiting = async {
            loop {
                let status = self.known(name).and_then(|workshop| workshop.status.as_ref());
                if status.is_some_and(|status| status.phase == phase) {
                    return;
                }
                self.next(&format!("{name} to be {phase:?}")).await;
            }
        };
        let reached = timeout(DEADLINE, waiting).await.is_ok();
        assert!(reached, "{name} is not {phase:?} but {:?}", self.known(name));
        self.known[name].clone()
    }

    /// Waits until the Workshop with this name is reported as gone.
    pub(super) async fn until_gone(&mut self, name: &str) {
        while self.known(name).is_some() {
            self.next(&format!("the end of {name}")).await;
        }
    }
}

/// Deletes a Workshop, and waits until it is gone.
pub(super) async fn delete_and_wait(fleet: &dyn Fleet, name: &str) {
    let mut watcher = Watcher::open(fleet).await;
    fleet.delete(name, None).await.unwrap();
    watcher.until_gone(name).await;
}
