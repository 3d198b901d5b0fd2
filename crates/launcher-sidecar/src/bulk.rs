//! Bulk transfers: a message that moves many bytes gets larger kernel buffers, as long as few do.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::memory::{BULK_AFTER, BULK_TRANSFERS};
use crate::socket::{Direction, Socket};

/// How many more transfers may have large buffers.
#[derive(Debug, Clone)]
pub(crate) struct BulkPermits(Arc<Semaphore>);

impl Default for BulkPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BULK_TRANSFERS)))
    }
}

/// One direction of an exchange: how much it has moved, and its permit once it is a bulk transfer.
#[derive(Debug, Default)]
pub(crate) struct Transferred {
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Transferred {
    /// Counts `count` bytes that moved from one socket to the other, and widens their buffers once they are many. Returns
    /// true when it does.
    pub(crate) fn count(
        &mut self,
        count: usize,
        permits: &BulkPermits,
        from: Option<&Socket>,
        to: Option<&Socket>,
    ) -> bool {
        self.bytes += count;
        if self.permit.is_some() || self.bytes < BULK_AFTER {
            return false;
        }
        self.bytes = 0;
        self.permit = permits.0.clone().try_acquire_owned().ok();
        if self.permit.is_none() {
            return false;
        }
        if let Some(from) = from {
            from.widen(Direction::Receive);
        }
        if let Some(to) = to {
            to.widen(Direction::Send);
        }
        true
    }

    /// Begins another message.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
    }

    /// Narrows the client's buffer and gives the permit back, once the buffer holds no more than it does without one.
    pub(crate) fn release(&mut self, client: Option<&Socket>, direction: Direction) {
        if self.permit.is_none() {
            return;
        }
        let is_narrow = client.is_none_or(|client| {
            client.narrow(direction);
            direction == Direction::Receive || client.has_room()
        });
        if is_narrow {
            self.permit = None;
        }
    }
}
