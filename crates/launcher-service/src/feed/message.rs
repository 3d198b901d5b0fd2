//! Messages of the feed.

use std::sync::Arc;

use launcher_store::ListedInstance;

/// Maximum changes that one read of the feed returns.
pub(crate) const BATCH: u32 = 200;

/// A changed instance.
#[derive(Debug, Clone)]
pub struct FeedEvent {
    /// Revision of the event. A client that reconnects resumes after this revision.
    pub id: i64,
    /// The current state of the instance.
    pub listed: Arc<ListedInstance>,
}

/// Message from the feed loop to its subscribers.
#[derive(Debug, Clone)]
pub(crate) enum FeedMessage {
    /// An instance has changed.
    Changed(FeedEvent),
    /// The feed loop has started. It publishes only later changes, so existing subscribers read the earlier ones from
    /// the database.
    Started,
}
