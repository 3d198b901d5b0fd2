//! Restart of a workshop with the current sidecar and settings.

use jiff::{SignedDuration, Timestamp};

use super::state::InstanceState;
use crate::instance::Instance;

/// Distance of two restarts of the same workshop, at least. Rows store times in whole milliseconds.
const LEAST_DISTANCE: SignedDuration = SignedDuration::from_millis(1);

/// Reason why a restart is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestartError {
    /// Only a running workshop can be restarted.
    #[error("only a running workshop can be restarted")]
    NotRunning,
    /// The workshop already has the current sidecar and settings, or its restart was already requested.
    #[error("the workshop does not run with an older version")]
    NotOutdated,
}

impl Instance {
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
}
