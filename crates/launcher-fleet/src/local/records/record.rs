//! The record of one Workshop, as stored in its state file.

use jiff::Timestamp;
use launcher_domain::StartStep;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};
use serde::{Deserialize, Serialize};

use super::token::Token;
use crate::local::process::PersistentProcessId;

/// The Workshop and its process, as stored in its state file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    /// The Workshop resource. A `deletionTimestamp` in it marks a deletion in progress.
    pub(crate) workshop: Workshop,
    /// The app's process. `None` before the start, and after the launcher has seen the exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<Started>,
}

impl Record {
    /// Returns the expiry of the Workshop; `None` before it was ready.
    pub(crate) fn expiry(&self) -> Option<Timestamp> {
        self.workshop.spec.expiry(self.status().ready_at)
    }

    /// Returns the status of the Workshop, or the default status if it has none.
    pub(crate) fn status(&self) -> WorkshopStatus {
        self.workshop.status.clone().unwrap_or_default()
    }

    /// Sets the status, and marks it as observed for the current generation of the spec.
    pub(crate) fn set_status(&mut self, status: WorkshopStatus) {
        let observed_generation = self.workshop.metadata.generation;
        self.workshop.status = Some(WorkshopStatus { observed_generation, ..status });
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

/// The app process that was started for a Workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    /// The leader of the app's process group.
    pub(crate) leader: PersistentProcessId,
    /// The app's loopback port.
    pub(crate) port: u16,
    /// The app's token. `None` if the app supports no token, or if an earlier launcher version started it without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Token>,
}
