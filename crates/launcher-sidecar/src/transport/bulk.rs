//! Bulk transfers: large requests and responses get larger kernel buffers. The number of concurrent bulk transfers is
//! limited, because these buffers count as memory of the container.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::memory::{BULK_AFTER, BULK_TRANSFERS};
use crate::transport::socket::{Direction, Socket};

/// Permits for bulk transfers, shared by all connections.
#[derive(Debug, Clone)]
pub(crate) struct BulkPermits(Arc<Semaphore>);

impl Default for BulkPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BULK_TRANSFERS)))
    }
}

/// Byte count of a request or a response, and its permit once it is a bulk transfer.
#[derive(Debug, Default)]
pub(crate) struct TransferCounter {
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl TransferCounter {
    /// Counts `count` bytes that were relayed from socket `from` to socket `to`. After `BULK_AFTER` bytes, enlarges the
    /// kernel buffers of both sockets if a permit is free. Returns true if it enlarged them.
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

    /// Resets the byte count for the next request or response.
    pub(crate) fn restart(&mut self) {
        self.bytes = 0;
    }

    /// Restores the normal size of the client's kernel buffer. Releases the permit once the bytes in the buffer fit
    /// into that size.
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
