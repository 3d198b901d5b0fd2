//! The feed of changed instances: ordered, resumable, and limited to the scope of each caller.
//!
//! Each change of a row takes the next revision. One loop per process reads new revisions from the database,
//! including changes made by other replicas, and sends them to all subscribers. A subscriber that resumes or lags
//! reads from the database directly.

mod subscriber;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Scope;
use launcher_store::ListedInstance;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::ErrorChain;
use crate::{Launcher, ServiceError};

/// Polling interval for changes made by other replicas.
const POLL: Duration = Duration::from_secs(1);
const BATCH: u32 = 200;

/// A changed instance.
#[derive(Debug, Clone)]
pub struct FeedEvent {
    /// Revision to resume after.
    pub id: i64,
    /// The current state of the instance.
    pub listed: Arc<ListedInstance>,
}

/// Message from the feed loop to its subscribers.
#[derive(Debug, Clone)]
pub(crate) enum FeedMessage {
    /// A change.
    Changed(FeedEvent),
    /// The feed loop publishes changes from now on. Existing subscribers read earlier changes from the database.
    Started,
}

/// Queue positions as last published.
type Positions = HashMap<Uuid, u32>;

impl Launcher {
    pub(crate) async fn run_feed(&self, stop: CancellationToken) {
        let mut seen = None;
        let mut positions = None;
        while !stop.is_cancelled() {
            match self.feed_round(seen, &mut positions).await {
                Ok(latest) => seen = Some(latest),
                Err(error) => {
                    tracing::warn!(error = %ErrorChain(&error), "feed read failed, retrying")
                }
            }
            tokio::select! {
                () = self.0.changed.notified() => {}
                () = tokio::time::sleep(POLL) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Publishes every change after `seen`. Returns the last revision published.
    async fn feed_round(&self, seen: Option<i64>, positions: &mut Option<Positions>) -> Result<i64, ServiceError> {
        let Some(mut seen) = seen else {
            let latest = self.0.store.feed_latest().await?;
            self.publish(FeedMessage::Started);
            return Ok(latest);
        };
        let before = seen;
        let mut more = true;
        while more {
            let batch = self.0.store.feed_since(Scope::Everyone, seen, BATCH).await?;
            (seen, more) = (batch.upto, batch.more);
            for listed in batch.listed {
                self.publish_change(listed.instance.revision, listed);
            }
        }
        if seen > before {
            self.publish_positions(seen, positions).await?;
        }
        Ok(seen)
    }

    /// Publishes the queued instances whose position has changed. Their rows did not change, so they have no new
    /// revision.
    ///
    /// Without a subscriber the queue is not read: it may be long, and every launch triggers this function.
    async fn publish_positions(&self, seen: i64, before: &mut Option<Positions>) -> Result<(), ServiceError> {
        if self.0.feed.receiver_count() == 0 {
            *before = None;
            return Ok(());
        }
        let queued = self.0.store.queued_ids().await?;
        let now: Positions = queued.into_iter().zip(1..).collect();
        // An untracked position may have changed.
        let previous = before.as_ref();
        let has_moved = |id: &Uuid, position: &u32| match previous {
            Some(previous) => previous.get(id).is_some_and(|before| before != position),
            None => true,
        };
        if now.iter().any(|(id, position)| has_moved(id, position)) {
            for listed in self.0.store.queue(Scope::Everyone).await? {
                let id = listed.instance.instance_id;
                if now.get(&id).is_some_and(|position| has_moved(&id, position)) {
                    self.publish_change(seen, listed);
                }
            }
        }
        *before = Some(now);
        Ok(())
    }

    fn publish_change(&self, id: i64, listed: ListedInstance) {
        self.publish(FeedMessage::Changed(FeedEvent { id, listed: Arc::new(listed) }));
    }

    fn publish(&self, message: FeedMessage) {
        // The send fails without subscribers, which is harmless: later subscribers read from the database.
        drop(self.0.feed.send(message));
    }
}
