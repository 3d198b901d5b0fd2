//! The feed of changed instances: ordered, resumable, and limited to the scope of each caller.
//!
//! Each change of a row takes the next revision. One loop per process reads new revisions from the database,
//! including changes made by other replicas, and sends them to all subscribers. A subscriber that resumes or lags
//! reads from the database directly.

pub(crate) mod message;
mod subscriber;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Scope;
use launcher_store::ListedInstance;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::{ErrorChain, ServiceError};
use crate::feed::message::{BATCH, FeedEvent, FeedMessage};
use crate::launcher::Launcher;

/// Polling interval for changes made by other replicas.
const POLL: Duration = Duration::from_secs(1);

/// Queue position of each queued instance, as last published.
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

    /// Publishes every change after the revision `seen`. Returns the last published revision.
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

    /// Publishes the queued instances whose queue position has changed. Their rows did not change, so their events
    /// carry `seen`, the last published revision.
    ///
    /// If the feed has no subscriber, this function does not read the queue. The queue may be long, and each launch
    /// calls this function.
    async fn publish_positions(&self, seen: i64, before: &mut Option<Positions>) -> Result<(), ServiceError> {
        if self.0.feed.receiver_count() == 0 {
            *before = None;
            return Ok(());
        }
        let queued = self.0.store.queued_ids().await?;
        let now: Positions = queued.into_iter().zip(1..).collect();
        // While the previous positions are unknown, every position counts as changed.
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
        // Ignore the error: the send fails only without subscribers, and later subscribers read from the database.
        drop(self.0.feed.send(message));
    }
}
