//! Bulk transfers: a long message gets larger kernel buffers, for a limited number of messages at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::memory::{BULK_AFTER, BULK_TRANSFERS};
use crate::socket::{Direction, Socket};

/// Permits for transfers with large buffers.
#[derive(Debug, Clone)]
pub(crate) struct BulkPermits(Arc<Semaphore>);

impl Default for BulkPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BULK_TRANSFERS)))
    }
}

/// One direction of an exchange: its byte count, and its permit once it is a bulk transfer.
#[derive(Debug, Default)]
pub(crate) struct TransferCounter {
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl TransferCounter {
    /// Counts `count` bytes that moved from one socket to the other. Widens their buffers after `BULK_AFTER` bytes if a
    /// permit is free, and then returns true.
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

    /// Starts another message.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
    }

    /// Narrows the client's buffer, and returns the permit once the buffer holds no more than its normal size.
    pub(crate) fn release(&mut self, client: Option<&Socket>, direction: Direction) {
        if self.permit.is_none() {
            return;
        }
        let is_narrow = client.is_none_or(|client| {
            client.narrow(direction);
            direction == Direction::Receive || client.is_writable()
        });
        if is_narrow {
            self.permit = None;
        }
    }
}
