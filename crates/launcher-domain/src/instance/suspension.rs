//! Suspend and resume: the Workshop is deleted, and later created again with the same name, settings and volume.

use jiff::Timestamp;

use crate::instance::{Instance, InstanceState, ResumeError, SuspendError};
use crate::report::Report;
use crate::template::AtExpiry;

impl Instance {
    /// Returns the instance whose Workshop is to be deleted until it is resumed; `None` when it is already suspended.
    ///
    /// # Errors
    /// [`SuspendError`]. A workshop that has expired at `now` counts as not running, even if the fleet has not reported it
    /// yet.
    pub fn suspend(&self, now: Timestamp) -> Result<Option<Self>, SuspendError> {
        if matches!(self.state, InstanceState::Suspending | InstanceState::Suspended) {
            return Ok(None);
        }
        if self.state != InstanceState::Running || self.expires_at.is_some_and(|end| end <= now) {
            return Err(SuspendError::NotRunning);
        }
        if self.volume.is_none() {
            return Err(SuspendError::FilesNotKept);
        }
        Ok(Some(self.suspending(now)))
    }

    /// True if the expiry suspends the instance instead of ending it.
    #[must_use]
    pub fn suspends_at_expiry(&self) -> bool {
        let at_expiry = self.settings.storage.as_ref().map(|storage| storage.at_expiry);
        self.volume.is_some() && at_expiry == Some(AtExpiry::Suspend)
    }

    /// True if `later`, a later state of this row, is about the same Workshop: the instance was not resumed in between.
    /// The uid of the Workshop may have been recorded in between.
    #[must_use]
    pub fn has_same_workshop(&self, later: &Self) -> bool {
        let keeps_uid = self.workshop_uid.is_none() || self.workshop_uid == later.workshop_uid;
        keeps_uid
            && (self.instance_id, self.resumed_at, &self.former_uid)
                == (later.instance_id, later.resumed_at, &later.former_uid)
    }

    /// Returns the suspending instance.
    pub(super) fn suspending(&self, at: Timestamp) -> Self {
        Self {
            state: InstanceState::Suspending,
            suspended_at: Some(at),
            report: self.report.without_workload(),
            expires_at: None,
            spec_version: self.spec_version + 1,
            ..self.for_next_state()
        }
    }

    /// Returns the resumed instance, which waits in the queue like a new one and gets a new lifetime; `None` when it waits
    /// or runs already.
    ///
    /// `applied_version` is set so that a late answer of the fleet about the former Workshop is not recorded.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub fn resume(&self, now: Timestamp) -> Result<Option<Self>, ResumeError> {
        match self.state {
            InstanceState::Suspended => {}
            InstanceState::Queued | InstanceState::Starting | InstanceState::Running => return Ok(None),
            InstanceState::Suspending => return Err(ResumeError::StillSuspending),
            InstanceState::Terminating | InstanceState::Terminated | InstanceState::Failed => {
                return Err(ResumeError::NotSuspended);
            }
        }
        Ok(Some(Self {
            state: InstanceState::Queued,
            suspended_at: None,
            resumed_at: Some(now),
            started_at: None,
            restarted_at: None,
            report: Report::default(),
            applied_version: self.spec_version,
            workshop_uid: None,
            former_uid: self.workshop_uid.clone(),
            ..self.for_next_state()
        }))
    }
}
