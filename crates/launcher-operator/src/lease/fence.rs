//! The fence: the time until which this operator may act as the leader.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::sync::lock;
use tokio::time::Instant;

/// Error of an operator that does not lead, or whose lease may have expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this operator is no longer the leader")]
pub struct NotLeading;

/// Open while this operator certainly holds the lease. The operator checks the fence before every change to the
/// cluster. Clones share one state.
#[derive(Debug, Clone)]
pub struct Fence(Arc<Mutex<Option<Instant>>>);

impl Fence {
    /// Creates a fence for a lease that was requested at `asked` and lasts for `duration`.
    #[must_use]
    pub fn new(asked: Instant, duration: Duration) -> Self {
        Self(Arc::new(Mutex::new(Some(asked + usable(duration)))))
    }

    /// Succeeds if this operator may act now.
    ///
    /// # Errors
    /// [`NotLeading`] if the lease may have expired, or the fence was closed.
    pub fn check(&self) -> Result<(), NotLeading> {
        let until = *lock(&self.0);
        if until.is_some_and(|until| Instant::now() < until) { Ok(()) } else { Err(NotLeading) }
    }

    /// Extends the fence after a renewal that was requested at `asked`. A closed fence stays closed.
    pub fn renewed(&self, asked: Instant, duration: Duration) {
        let mut until = lock(&self.0);
        if until.is_some() {
            *until = Some(asked + usable(duration));
        }
    }

    /// Closes the fence permanently.
    pub fn close(&self) {
        *lock(&self.0) = None;
    }
}

/// Returns the part of the lease duration in which the leader may act. The last fifth is reserved for requests that
/// were sent at the last moment.
fn usable(duration: Duration) -> Duration {
    duration * 4 / 5
}
