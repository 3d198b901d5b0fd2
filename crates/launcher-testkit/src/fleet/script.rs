//! Changes of the in-memory fleet that the test makes: statuses of Workshops, and changes by other actors.

use std::net::{Ipv4Addr, SocketAddr};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use launcher_domain::{Clock, Crash, FailureCode, FailureReason, ListensElsewhere, MaterialReport, Report, StartStep};
use launcher_fleet::FleetEvent;
use launcher_workshop::{Phase, READY, Workshop, WorkshopSpec, WorkshopStatus};

use super::FakeFleet;
use super::delay::Delay;

/// Returns the status of a Workshop at this step of its start.
fn starting(step: StartStep, ready_at: Option<Timestamp>) -> WorkshopStatus {
    let report = Report { start_step: Some(step), ..Report::default() };
    WorkshopStatus { phase: Phase::Starting, report, ready_at, ..WorkshopStatus::default() }
}

/// Returns the `Ready` condition of a Workshop that has not been ready since this time.
fn unready_since(since: Timestamp) -> Condition {
    Condition {
        type_: READY.to_owned(),
        status: "False".to_owned(),
        reason: "Starting".to_owned(),
        message: String::new(),
        last_transition_time: Time(since),
        observed_generation: None,
    }
}

/// Statuses that the fleet reports.
impl FakeFleet {
    /// Reports the start step of a Workshop, with the current time as its start.
    pub fn starting(&self, name: &str, step: StartStep) {
        let unready = unready_since(self.clock.now());
        self.report(name, WorkshopStatus { conditions: vec![unready], ..starting(step, None) });
    }

    /// Reports a start step with its progress.
    pub fn progress(&self, name: &str, step: StartStep, progress: u32) {
        let mut status = starting(step, None);
        status.report.start_progress = Some(progress);
        self.report(name, status);
    }

    /// Reports that the pod of a Workshop waits for saved files at this port.
    pub fn wait_for_saved_files(&self, name: &str, port: u16) {
        let mut status = starting(StartStep::Preparing, None);
        status.restore_address = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        self.report(name, status);
    }

    /// Reports the addresses on which the app of a starting Workshop listens instead of its port.
    pub fn listens_elsewhere(&self, name: &str, elsewhere: ListensElsewhere) {
        let mut status = starting(StartStep::StartingApp, None);
        status.report.listens_elsewhere = Some(elsewhere);
        self.report(name, status);
    }

    /// Makes a Workshop ready.
    pub fn ready(&self, name: &str) {
        self.report(name, self.running(name));
    }

    /// Makes a Workshop ready whose sidecar has no frame page, because an older version of the fleet started it.
    pub fn ready_without_frame_page(&self, name: &str) {
        let mut status = self.running(name);
        status.report.frame_url = None;
        self.report(name, status);
    }

    /// Reports that a ready Workshop has an older version of sidecar or settings, as after an upgrade of the fleet.
    pub fn outdate(&self, name: &str) {
        self.lock().change(name, |workshop| {
            let restarted_at = workshop.spec.restarted_at;
            let status = workshop.status.get_or_insert_default();
            (status.pod_outdated, status.restarted_at) = (Some(true), restarted_at);
        });
    }

    /// Finishes the requested restart of a Workshop: it is ready again, with the current version.
    pub fn finish_restart(&self, name: &str) {
        self.lock().change(name, |workshop| {
            let restarted_at = workshop.spec.restarted_at;
            let status = workshop.status.get_or_insert_default();
            (status.pod_outdated, status.restarted_at) = (None, restarted_at);
        });
    }

    /// Crashes the app of a ready Workshop: the fleet starts the app again in place. [`Self::recover`] finishes the
    /// restart.
    pub fn crash(&self, name: &str, code: FailureCode, files_lost: bool) {
        let crash = Crash { at: self.clock.now(), code, files_lost };
        self.lock().change(name, |workshop| {
            let status = workshop.status.get_or_insert_default();
            *status = starting(StartStep::StartingApp, status.ready_at);
            status.report.last_crash = Some(crash);
        });
    }

    /// Reports the outcome of the course material of a Workshop.
    pub fn report_material(&self, name: &str, report: MaterialReport) {
        self.lock().change(name, |workshop| {
            workshop.status.get_or_insert_default().report.material = Some(report);
        });
    }

    /// Makes a Workshop ready again after a crash. The first ready time and the crash stay in its status.
    pub fn recover(&self, name: &str) {
        let running = self.running(name);
        self.lock().change(name, |workshop| {
            let status = workshop.status.get_or_insert_default();
            let (ready_at, before) = (status.ready_at, std::mem::take(&mut status.report));
            *status = WorkshopStatus { ready_at, ..running }.after(&before);
        });
    }

    /// Makes a Workshop fail, with these last lines of output.
    pub fn fail(&self, name: &str, code: FailureCode, log_tail: &str) {
        self.fail_because(name, FailureReason::new(code, None), log_tail);
    }

    /// Fails a Workshop with this reason.
    pub fn fail_because(&self, name: &str, reason: FailureReason, log_tail: &str) {
        self.report(name, WorkshopStatus::failed(reason, Some(log_tail.to_owned())));
    }

    /// Terminates a Workshop's workload because of its expiry.
    pub fn expire(&self, name: &str) {
        self.report(name, WorkshopStatus { phase: Phase::Expired, ..WorkshopStatus::default() });
    }

    fn report(&self, name: &str, status: WorkshopStatus) {
        self.lock().change(name, |workshop| workshop.status = Some(status));
    }
}

/// Changes by actors other than the service.
impl FakeFleet {
    /// Removes a Workshop without an event, as if the watch was interrupted at that time.
    pub fn remove_silently(&self, name: &str) {
        self.lock().workshops.remove(name);
    }

    /// Adds a volume.
    pub fn add_volume(&self, name: String) {
        self.lock().volumes.insert(name);
    }

    /// Adds a Workshop that the service did not request.
    pub fn add_unrequested(&self, workshop: &Workshop) {
        self.lock().store(workshop, None);
    }

    /// Changes a Workshop's spec, as an admin with access to the fleet could. Watchers receive the change.
    pub fn edit_spec(&self, name: &str, change: impl FnOnce(&mut WorkshopSpec)) {
        self.lock().change(name, |workshop| change(&mut workshop.spec));
    }

    /// Makes a Workshop unreadable until it is applied again, and reports that in its status.
    pub fn make_unreadable(&self, name: &str) {
        let mut state = self.lock();
        let failed = WorkshopStatus::failed(FailureReason::new(FailureCode::InvalidSpec, None), None);
        state.existing(name).status = Some(WorkshopStatus { observed_generation: Some(2), ..failed });
        state.unreadable.insert(name.to_owned());
    }

    /// Sends a complete list to all watchers.
    pub fn relist(&self) {
        let mut state = self.lock();
        let event = FleetEvent::Relisted(state.readable());
        state.notify(&event);
    }

    /// Sends an event to all watchers, like a late event of a slow watch.
    pub fn announce(&self, event: &FleetEvent) {
        self.lock().notify(event);
    }

    /// Deletes a Workshop as another actor, or finishes a held deletion.
    pub fn remove_workshop(&self, name: &str) {
        self.lock().remove(name);
    }
}

/// Delays of calls.
impl FakeFleet {
    /// Delays the next call of `delete`.
    #[must_use]
    pub fn delay_deletion(&self) -> Delay {
        self.lock().delayed_deletion.insert(Delay::default()).clone()
    }

    /// Delays the next call of `get`.
    #[must_use]
    pub fn delay_read(&self) -> Delay {
        self.lock().delayed_read.insert(Delay::default()).clone()
    }
}
