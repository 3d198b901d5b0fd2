//! State of the in-memory fleet: its Workshops, its watchers, and the faults of its next calls.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Barrier};

use launcher_domain::names::{is_k8s_name, is_volume_name};
use launcher_domain::{ArchiveToken, SecretValues};
use launcher_fleet::{Deletion, FleetError, FleetEvent, ImageState};
use launcher_workshop::{ResourceExt, Workshop, WorkshopStatus};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use super::delay::Delay;
use super::fault::Fault;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) workshops: BTreeMap<String, Workshop>,
    /// Secret variables by the name of the Workshop.
    pub(super) secrets: BTreeMap<String, SecretValues>,
    /// Volumes of the Workshops that were ever created, until they are deleted.
    pub(super) volumes: BTreeSet<String>,
    /// True if the fleet checks course material.
    pub(super) checks_sources: bool,
    /// True if the checks never end.
    pub(super) holds_checks: bool,
    /// Number of checks that have begun.
    pub(super) checks: usize,
    /// True if the fleet cannot read volumes.
    pub(super) lacks_archives: bool,
    pub(super) breaks_archives: bool,
    /// True if the fleet cannot place saved files.
    pub(super) lacks_restore: bool,
    /// Calls that sent saved files, and the end of the first one in progress.
    pub(super) saved_files: Vec<(String, ArchiveToken)>,
    pub(super) placed_files: Arc<Notify>,
    pub(super) has_late_archives: bool,
    pub(super) archive_barrier: Option<Arc<Barrier>>,
    pub(super) hangs_app_reads: bool,
    pub(super) app_reads: usize,
    /// Workshops that are unreadable until they are applied again.
    pub(super) unreadable: BTreeSet<String>,
    pub(super) watchers: Vec<UnboundedSender<FleetEvent>>,
    /// Number of Workshops that were ever created.
    pub(super) created: usize,
    /// Number of calls of `apply`, also failed calls. Calls with [`Fault::Hang`] do not count.
    pub(super) applied: usize,
    /// Number of calls of `delete`, also failed calls.
    pub(super) deletions: usize,
    pub(super) runs_at_once: bool,
    /// True if deletions stay in progress until the test finishes them.
    pub(super) holds_deletions: bool,
    /// Delays of the next deletion and of the next read.
    pub(super) delayed_deletion: Option<Delay>,
    pub(super) delayed_read: Option<Delay>,
    /// Faults of the next calls.
    pub(super) faults: VecDeque<Fault>,
    /// The images, if the fleet has images.
    pub(super) images: Option<FakeImages>,
}

/// The images of an in-memory fleet that has images.
#[derive(Debug, Default)]
pub(super) struct FakeImages {
    pub(super) states: BTreeMap<String, ImageState>,
    pub(super) pulls: Vec<String>,
    pub(super) fault: Option<Fault>,
}

impl FakeImages {
    pub(super) fn state(&self, image: &str) -> ImageState {
        self.states.get(image).cloned().unwrap_or(ImageState::Missing)
    }
}

impl State {
    /// Applies a Workshop. Returns the answer, or `None` if the call must never return. `running` is the status that a
    /// new Workshop gets if the fleet runs Workshops at once.
    pub(super) fn apply(
        &mut self,
        wanted: &Workshop,
        secrets: &SecretValues,
        running: WorkshopStatus,
    ) -> Option<Result<Workshop, FleetError>> {
        if self.faults.pop_front_if(|fault| *fault == Fault::Hang).is_some() {
            return None;
        }
        self.applied += 1;
        let found = self.workshops.get(&wanted.name_any()).and_then(ResourceExt::uid);
        let is_gone = wanted.uid().is_some() && wanted.uid() != found;
        let fault = self.faults.pop_front();
        let refusal = self.refusal_of(wanted);
        match fault {
            Some(Fault::Unavailable | Fault::Hang) => Some(Err(unavailable())),
            _ if is_gone => Some(Err(unavailable())),
            Some(Fault::Refused) => Some(Err(FleetError::Refused("fault injected by the test".to_owned()))),
            _ if refusal.is_some() => refusal.map(|reason| Err(FleetError::Refused(reason.to_owned()))),
            Some(fault @ (Fault::ErrorAfterSuccess | Fault::HangAfterSuccess)) => {
                self.store(wanted, Some(running));
                self.store_secrets(wanted, secrets);
                (fault == Fault::ErrorAfterSuccess).then(|| Err(unavailable()))
            }
            None => {
                self.store_secrets(wanted, secrets);
                Some(Ok(self.store(wanted, Some(running))))
            }
        }
    }

    fn store_secrets(&mut self, wanted: &Workshop, secrets: &SecretValues) {
        if !secrets.is_empty() {
            self.secrets.insert(wanted.name_any(), secrets.clone());
        }
    }

    /// Deletes a Workshop. Returns the answer, or `None` if the call must never return.
    pub(super) fn delete(&mut self, name: &str, uid: Option<&str>) -> Option<Result<Deletion, FleetError>> {
        self.deletions += 1;
        let fault = self.faults.pop_front();
        if fault == Some(Fault::Hang) {
            return None;
        }
        if matches!(fault, Some(Fault::Unavailable | Fault::Refused)) {
            return Some(Err(unavailable()));
        }
        let found = self.workshops.get(name).and_then(|workshop| workshop.metadata.uid.clone());
        if found.is_none() || (uid.is_some() && found.as_deref() != uid) {
            return Some(Ok(Deletion::Gone));
        }
        if self.holds_deletions {
            return Some(Ok(Deletion::InProgress));
        }
        self.remove(name);
        match fault {
            Some(Fault::HangAfterSuccess) => None,
            Some(Fault::ErrorAfterSuccess) => Some(Err(unavailable())),
            _ => Some(Ok(Deletion::InProgress)),
        }
    }

    /// Deletes a volume. Returns the answer, or `None` if the call must never return.
    pub(super) fn delete_volume(&mut self, name: &str) -> Option<Result<(), FleetError>> {
        match self.faults.pop_front() {
            Some(Fault::Hang) => return None,
            Some(Fault::Unavailable | Fault::Refused) => return Some(Err(unavailable())),
            _ => {}
        }
        if !is_volume_name(name) {
            return Some(Err(FleetError::Refused("its name is not one of a volume".to_owned())));
        }
        let is_final = |workshop: &&Workshop| workshop.status.as_ref().is_some_and(|status| status.phase.is_final());
        let alive = self.workshops.values().filter(|workshop| !is_final(workshop));
        let mut storages = alive.filter_map(|workshop| workshop.spec.storage.as_ref());
        if storages.any(|storage| storage.volume == name) {
            return Some(Err(unavailable()));
        }
        self.volumes.remove(name);
        Some(Ok(()))
    }

    /// Returns the reason why every fleet refuses this Workshop; `None` if it is acceptable.
    fn refusal_of(&self, wanted: &Workshop) -> Option<&'static str> {
        let known = self.workshops.get(&wanted.name_any()).map_or(&wanted.spec, |known| &known.spec);
        let reasons = [
            (!is_k8s_name(&wanted.name_any()), "its name is not a DNS label"),
            (wanted.spec.owner_email().is_none(), "spec.owner is not an e-mail address"),
            (known.owner != wanted.spec.owner, "spec.owner cannot be changed"),
            (known.image != wanted.spec.image, "spec.image cannot be changed"),
            (known.storage != wanted.spec.storage, "spec.storage cannot be changed"),
        ];
        reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason))
    }

    pub(super) fn notify(&mut self, event: &FleetEvent) {
        self.watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    pub(super) fn readable(&self) -> Vec<Workshop> {
        let readable = self.workshops.iter().filter(|(name, _)| !self.unreadable.contains(*name));
        readable.map(|(_, workshop)| workshop.clone()).collect()
    }

    /// Changes a Workshop, and notifies the watchers.
    pub(super) fn change(&mut self, name: &str, change: impl FnOnce(&mut Workshop)) {
        let workshop = self.existing(name);
        change(workshop);
        let event = FleetEvent::Applied(Box::new(workshop.clone()));
        self.notify(&event);
    }

    pub(super) fn existing(&mut self, name: &str) -> &mut Workshop {
        self.workshops.get_mut(name).unwrap_or_else(|| panic!("there is no Workshop {name}"))
    }

    pub(super) fn store(&mut self, wanted: &Workshop, running: Option<WorkshopStatus>) -> Workshop {
        let name = wanted.name_any();
        self.unreadable.remove(&name);
        let mut workshop = wanted.clone();
        self.volumes.extend(wanted.spec.storage.as_ref().map(|storage| storage.volume.clone()));
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

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(workshop) = self.workshops.remove(name) {
            self.secrets.remove(name);
            self.notify(&FleetEvent::Deleted(Box::new(workshop)));
        }
    }
}

fn unavailable() -> FleetError {
    FleetError::Unavailable("fault injected by the test".to_owned())
}
