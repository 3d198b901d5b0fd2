//! Transitions of an instance: pure functions from one row to the next.

use jiff::{SignedDuration, Timestamp};

use crate::instance::{EndReason, Instance, InstanceState, Observation, ObservedPhase, RestartError};
use crate::lifetime;

/// Least time between two restarts of the same workshop. Rows store times in whole milliseconds.
const LEAST_DISTANCE: SignedDuration = SignedDuration::from_millis(1);

impl Instance {
    /// Returns the instance after the fleet's report `seen`; `None` when the report changes nothing.
    ///
    /// A late report does not revive an instance whose end or suspension is decided.
    #[must_use]
    pub fn observe(&self, seen: &Observation) -> Option<Self> {
        if !self.state.wants_workshop() {
            return None;
        }
        let mut next = self.for_next_state();
        next.report = self.report.next(seen, self.state);
        match &seen.phase {
            // The fleet starts the app of a running instance again. The instance keeps its URL and stays running.
            ObservedPhase::Starting => next.outdated = self.outdated,
            ObservedPhase::Running => {
                next.state = InstanceState::Running;
                // A report from before the requested restart is about the former workload.
                next.outdated = seen.outdated && seen.restarted_at == self.restarted_at;
                if next.started_at.is_none() {
                    next.started_at = seen.ready_at;
                    // The fleet derives the same expiry from the lifetime, so the Workshop does not change.
                    next.expires_at = seen.ready_at.map(|ready| lifetime::first_expiry(ready, &self.settings));
                }
            }
            ObservedPhase::Failed(reason) => {
                next.state = InstanceState::Failed;
                next.snapshot = None;
                next.reason = Some(reason.clone());
                next.end_reason = Some(EndReason::Failed);
                next.spec_version += 1;
            }
            ObservedPhase::Expired if self.suspends_at_expiry() => {
                let first = seen.ready_at.map(|ready| lifetime::first_expiry(ready, &self.settings));
                next = next.suspending(self.expires_at.or(first).unwrap_or(self.created_at));
            }
            ObservedPhase::Expired => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(EndReason::Expired);
                next.snapshot = self.snapshot_when_gone();
                next.spec_version += 1;
            }
        }
        (next != *self).then_some(next)
    }

    /// Returns the terminated instance; `None` when it is already terminating or terminated.
    ///
    /// A queued or suspended instance is terminated at once, because it has no Workshop. The workload of a running instance
    /// with a planned snapshot runs until the snapshot is finished. A failed instance is dismissed and keeps
    /// `failed` as its end reason.
    #[must_use]
    pub fn terminate(&self, by: EndReason, now: Timestamp) -> Option<Self> {
        let mut next = self.for_next_state();
        match self.state {
            InstanceState::Terminating | InstanceState::Terminated => return None,
            InstanceState::Queued | InstanceState::Suspended => {
                next.state = InstanceState::Terminated;
                next.end_reason = Some(by);
                next.ended_at = Some(now);
                next.snapshot = None;
            }
            InstanceState::Starting | InstanceState::Running | InstanceState::Suspending => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(by);
                next.report = self.report.without_workload();
                next.snapshot = self.snapshot_at_end(now);
                // The Workshop is deleted after its snapshot.
                next.spec_version += i64::from(next.snapshot.is_none());
            }
            InstanceState::Failed => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(EndReason::Failed);
                next.spec_version += 1;
            }
        }
        Some(next)
    }

    /// Returns the instance with a requested restart: the fleet replaces the workload. The expiry does not change.
    ///
    /// The instance is no longer outdated, so a repeated request does not restart it twice.
    ///
    /// # Errors
    /// [`RestartError`]. A workshop that has expired at `now` counts as not running, even if the fleet has not reported
    /// it yet.
    pub fn restart(&self, now: Timestamp) -> Result<Self, RestartError> {
        if self.state != InstanceState::Running || self.expires_at.is_some_and(|end| end <= now) {
            return Err(RestartError::NotRunning);
        }
        if !self.outdated {
            return Err(RestartError::NotOutdated);
        }
        // The fleet restarts workloads from before this time. The time must differ from that of the last restart, even
        // if the clock was set back.
        let last = self.restarted_at.and_then(|last| last.checked_add(LEAST_DISTANCE).ok());
        let restarted_at = [self.started_at, last].into_iter().flatten().fold(now, Timestamp::max);
        Ok(Self {
            outdated: false,
            restarted_at: Some(restarted_at),
            spec_version: self.spec_version + 1,
            ..self.clone()
        })
    }

    /// Returns the instance after its Workshop is gone; `None` when the instance does not change.
    ///
    /// A suspending instance is then suspended. If the launcher did not delete the Workshop, another program or a person did: the end reason is `lost`.
    #[must_use]
    pub fn workshop_gone(&self, now: Timestamp) -> Option<Self> {
        let mut next = self.for_next_state();
        match self.state {
            InstanceState::Queued | InstanceState::Suspended | InstanceState::Terminated | InstanceState::Failed => {
                return None;
            }
            InstanceState::Suspending => return Some(Self { state: InstanceState::Suspended, ..next }),
            InstanceState::Terminating => {}
            InstanceState::Starting | InstanceState::Running => next.end_reason = Some(EndReason::Lost),
        }
        next.state = InstanceState::Terminated;
        next.snapshot = self.snapshot_when_gone();
        next.report = self.report.without_workload();
        next.ended_at = Some(now);
        Some(next)
    }

    /// Returns the instance without the fields that the next state may not have: the step of a start, and `outdated`.
    pub(super) fn for_next_state(&self) -> Self {
        Self { report: self.report.without_start(), outdated: false, ..self.clone() }
    }
}
