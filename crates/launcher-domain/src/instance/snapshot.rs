//! The snapshot of an instance: its planned end waits until the files are saved, or cannot be saved.

use jiff::{SignedDuration, Timestamp};

use crate::instance::{EndReason, Instance, InstanceState};
use crate::snapshot::{InstanceSnapshot, SnapshotFailure, SnapshotState};

/// Time for which one launcher alone saves the files. Afterwards, another replica saves them, too: the first one may have
/// been killed.
const SNAPSHOT_CLAIM: SignedDuration = SignedDuration::from_secs(20);

impl Instance {
    /// True while the end of the instance waits for its snapshot.
    #[must_use]
    pub fn waits_for_snapshot(&self) -> bool {
        self.state == InstanceState::Terminating && self.has_snapshot(SnapshotState::Pending)
    }

    /// Returns the instance that ends because its lifetime is over; `None` if it has not expired, or if no snapshot is
    /// planned. The fleet ends all other instances.
    #[must_use]
    pub fn expire_with_snapshot(&self, now: Timestamp) -> Option<Self> {
        let is_over = self.expires_at.is_some_and(|end| end <= now);
        let is_due = self.state == InstanceState::Running && self.has_snapshot(SnapshotState::Planned) && is_over;
        is_due.then(|| self.terminate(EndReason::Expired, now)).flatten()
    }

    /// Returns the instance whose snapshot a launcher begins to save; `None` if it waits for no snapshot, or if a launcher
    /// began at most 20 seconds ago. A start before `earliest` does not count.
    #[must_use]
    pub fn begin_snapshot(&self, now: Timestamp, earliest: Timestamp) -> Option<Self> {
        let snapshot = self.snapshot.as_ref().filter(|_| self.waits_for_snapshot())?;
        let is_claim = |begun: Timestamp| begun.checked_add(SNAPSHOT_CLAIM).is_ok_and(|until| until > now);
        if snapshot.begun_at.is_some_and(|begun| begun >= earliest && is_claim(begun)) {
            return None;
        }
        Some(Self { snapshot: Some(InstanceSnapshot { begun_at: Some(now), ..snapshot.clone() }), ..self.clone() })
    }

    /// Returns the instance whose snapshot is saved or has failed: the workload can be removed. `None` if the instance does
    /// not wait for it.
    #[must_use]
    pub fn finish_snapshot(&self, outcome: Result<(), SnapshotFailure>) -> Option<Self> {
        let snapshot = self.snapshot.as_ref().filter(|_| self.waits_for_snapshot())?;
        let spec_version = self.spec_version + 1;
        Some(Self { snapshot: Some(snapshot.finished(outcome)), spec_version, ..self.clone() })
    }

    /// Returns the snapshot of the instance when its end is decided at `now`: pending while the app runs.
    pub(super) fn snapshot_at_end(&self, now: Timestamp) -> Option<InstanceSnapshot> {
        let planned = self.snapshot.as_ref().filter(|_| self.has_snapshot(SnapshotState::Planned))?;
        (self.state == InstanceState::Running).then(|| planned.pending(now))
    }

    /// Returns the snapshot of an instance whose workload is gone: a snapshot that was expected has failed.
    pub(super) fn snapshot_when_gone(&self) -> Option<InstanceSnapshot> {
        let snapshot = self.snapshot.as_ref()?;
        match snapshot.state {
            SnapshotState::Planned if self.state != InstanceState::Running => None,
            SnapshotState::Planned | SnapshotState::Pending => {
                Some(snapshot.finished(Err(SnapshotFailure::WorkshopGone)))
            }
            SnapshotState::Saved | SnapshotState::Failed => Some(snapshot.clone()),
        }
    }

    fn has_snapshot(&self, state: SnapshotState) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| snapshot.state == state)
    }
}
