//! The record of one Workshop, as stored in its state file.

use jiff::Timestamp;
use launcher_domain::crash::CrashHistory;
use launcher_domain::{SecretValues, StartStep};
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use serde::{Deserialize, Serialize};

/// The Workshop and its process, as stored in its state file. `P` describes the process; it is `()` for a fleet that
/// finds its workloads by their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record<P> {
    /// The Workshop resource. A `deletionTimestamp` in it marks a deletion in progress.
    pub(crate) workshop: Workshop,
    /// Values of the variables in `spec.secretEnv`. The Workshop does not contain them, so watchers do not see them.
    #[serde(default, skip_serializing_if = "SecretValues::is_empty")]
    pub(crate) secrets: SecretValues,
    /// The app's process. `None` before the start, and after the launcher has seen the exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<P>,
    /// The final status of a Workshop whose workload is being removed. It becomes the Workshop's status after the removal.
    /// A launcher that is killed in between leaves the cause to its successor, which finds no workload to examine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) final_status: Option<Box<WorkshopStatus>>,
    /// The recent crashes of an app that was started again in place.
    #[serde(default, skip_serializing_if = "CrashHistory::is_empty")]
    pub(crate) crashes: CrashHistory,
}

impl<P: Clone> Record<P> {
    /// Returns the expiry of the Workshop; `None` before it was ready.
    pub(crate) fn expiry(&self) -> Option<Timestamp> {
        self.workshop.spec.expiry(self.status().ready_at)
    }

    /// Returns the time at which the fleet ends the workload: see [`WorkshopSpec::end`](launcher_workshop::WorkshopSpec::end).
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.workshop.spec.end(self.status().ready_at)
    }

    /// Returns the status of the Workshop, or the default status if it has none.
    pub(crate) fn status(&self) -> WorkshopStatus {
        self.workshop.status.clone().unwrap_or_default()
    }

    /// Sets the status, and marks it as observed for the current generation of the spec. A status without a crash
    /// or a report about material keeps the former one.
    pub(crate) fn set_status(&mut self, status: WorkshopStatus) {
        let observed_generation = self.workshop.metadata.generation;
        let last_crash = status.last_crash.clone().or(self.status().last_crash);
        let material = status.material.clone().or(self.status().material);
        self.workshop.status = Some(WorkshopStatus { observed_generation, last_crash, material, ..status });
    }

    /// Returns this record with the status of an app that does not answer: without a URL. `ready_at` stays, so that the
    /// lifetime continues.
    pub(crate) fn not_ready(&self) -> Self {
        let mut next = self.clone();
        let status = self.status();
        if matches!(status.phase, Phase::Starting | Phase::Running) {
            next.set_status(WorkshopStatus::starting(StartStep::StartingApp, status.ready_at));
        }
        next
    }
}
