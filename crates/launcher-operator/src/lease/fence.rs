//! Until when a leader may act.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// We do not lead, or cannot be sure any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this operator does not lead any more")]
pub struct NotLeading;

/// Open while a lease is held. Everything that changes the cluster asks it first. Copies are one fence.
#[derive(Debug, Clone)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// A fence for a lease that was asked for at `asked` and lasts for `duration`.
    #[must_use]
    pub fn new(asked: Instant, duration: Duration) -> Self {
        Self(Arc::new(Mutex::new(Some(asked + usable(duration)))))
    }

    /// Whether we may act right now.
    ///
    /// # Errors
    /// [`NotLeading`] when the lease may have run out, or was given up.
    pub fn check(&self) -> Result<(), NotLeading> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) { Ok(()) } else { Err(NotLeading) }
    }

    /// The lease was renewed, by a request that began at `asked`.
    pub fn renewed(&self, asked: Instant, duration: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some() {
            *until = Some(asked + usable(duration));
        }
    }

    /// Closes it for good.
    pub fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A request that is sent at the last moment has a fifth of the lease to arrive.
fn usable(duration: Duration) -> Duration {
    duration * 4 / 5
}
