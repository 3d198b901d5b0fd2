//! Delayed calls: a test lets other things happen while a call of the service is in progress.

use std::sync::Arc;

use tokio::sync::Notify;

/// A delay of one call. Clones share its state.
#[derive(Debug, Clone, Default)]
pub struct Delay {
    begun: Arc<Notify>,
    ended: Arc<Notify>,
}

impl Delay {
    /// Waits until the service has made the call.
    pub async fn begun(&self) {
        self.begun.notified().await;
    }

    /// Lets the call take effect.
    pub fn end(&self) {
        self.ended.notify_one();
    }

    pub(super) async fn pass(&self) {
        self.begun.notify_one();
        self.ended.notified().await;
    }
}
