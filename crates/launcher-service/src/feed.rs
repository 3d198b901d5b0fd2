//! The feed: what changed, to whom it concerns, in order, resumable.
//!
//! Each change of a row takes the next revision. One loop per process reads new revisions from the database (so changes
//! made by other replicas come too) and hands them to all subscribers; a subscriber that resumes or falls behind reads
//! from the database itself.

mod subscriber;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Scope;
use launcher_store::Listed;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::Chain;
use crate::{Launcher, ServiceError};

/// How soon changes of other replicas are seen.
const POLL: Duration = Duration::from_secs(1);
const BATCH: u32 = 200;

/// A changed instance.
#[derive(Debug, Clone)]
pub struct FeedEvent {
    /// Where to resume behind this event.
    pub id: i64,
    /// The instance as it is now.
    pub listed: Arc<Listed>,
}

/// What the loop tells the subscribers.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// A change.
    Changed(FeedEvent),
    /// The loop tells what changes from now on. Whoever came before it reads what has changed until then.
    Begun,
}

/// Positions in line as they were last told.
type Positions = HashMap<Uuid, u32>;

impl Launcher {
    pub(crate) async fn run_feed(&self, stop: CancellationToken) {
        let mut seen = None;
        let mut positions = None;
        while !stop.is_cancelled() {
            match self.feed_round(seen, &mut positions).await {
                Ok(latest) => seen = Some(latest),
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "the feed is tried again")
                }
            }
            tokio::select! {
                () = self.0.changed.notified() => {}
                () = tokio::time::sleep(POLL) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Hands everything behind `seen` to the subscribers; returns the last revision handed out.
    async fn feed_round(&self, seen: Option<i64>, positions: &mut Option<Positions>) -> Result<i64, ServiceError> {
        let Some(mut seen) = seen else {
            let latest = self.0.store.feed_latest().await?;
            self.publish(News::Begun);
            return Ok(latest);
        };
        let before = seen;
        let mut more = true;
        while more {
            let batch = self.0.store.feed_since(Scope::Everyone, seen, BATCH).await?;
            (seen, more) = (batch.upto, batch.more);
            for listed in batch.listed {
                self.tell(listed.instance.revision, listed);
            }
        }
        if seen > before {
            self.tell_positions(seen, positions).await?;
        }
        Ok(seen)
    }

    /// Tells those whose place in line has changed: their rows have not, so the revisions do not say it.
    ///
    /// Without a listener the line is not even read: it may be long, and each launch comes through here.
    async fn tell_positions(&self, seen: i64, before: &mut Option<Positions>) -> Result<(), ServiceError> {
        if self.0.feed.receiver_count() == 0 {
            *before = None;
            return Ok(());
        }
        let line = self.0.store.queue_line().await?;
        let now: Positions = line.into_iter().zip(1..).collect();
        // What was not followed may have moved.
        let told = before.as_ref();
        let has_moved = |id: &Uuid, position: &u32| match told {
            Some(told) => told.get(id).is_some_and(|before| before != position),
            None => true,
        };
        if now.iter().any(|(id, position)| has_moved(id, position)) {
            for listed in self.0.store.queue(Scope::Everyone).await? {
                let id = listed.instance.instance_id;
                if now.get(&id).is_some_and(|position| has_moved(&id, position)) {
                    self.tell(seen, listed);
                }
            }
        }
        *before = Some(now);
        Ok(())
    }

    fn tell(&self, id: i64, listed: Listed) {
        self.publish(News::Changed(FeedEvent { id, listed: Arc::new(listed) }));
    }

    fn publish(&self, news: News) {
        // Nobody listening is fine: whoever comes later reads from the database.
        drop(self.0.feed.send(news));
    }
}
