//! The fence: the time until which a leader may act.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// We do not lead, or are no longer sure that we do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this operator is no longer the leader")]
pub struct NotLeading;

/// Open while a lease is held. Every change to the cluster checks it first. Clones share one state.
#[derive(Debug, Clone)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// Creates a fence for a lease that was requested at `asked` and lasts for `duration`.
    #[must_use]
    pub fn new(asked: Instant, duration: Duration) -> Self {
        Self(Arc::new(Mutex::new(Some(asked + usable(duration)))))
    }

    /// Succeeds if we may act now.
    ///
    /// # Errors
    /// [`NotLeading`] if the lease may have expired, or was given up.
    pub fn check(&self) -> Result<(), NotLeading> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) { Ok(()) } else { Err(NotLeading) }
    }

    /// Extends the fence after a renewal whose request began at `asked`.
    pub fn renewed(&self, asked: Instant, duration: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some() {
            *until = Some(asked + usable(duration));
        }
    }

    /// Closes the fence permanently.
    pub fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The usable part of a lease. It leaves a fifth of the lease for a request sent at the last moment.
fn usable(duration: Duration) -> Duration {
    duration * 4 / 5
}
