//! The feed: what changed, to whom it concerns, in order, resumable.
//!
//! Each change of a row takes the next revision. One loop per process reads new revisions from the database (so changes
//! made by other replicas come too) and hands them to all subscribers; a subscriber that resumes or falls behind reads
//! from the database itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use launcher_domain::{Caller, Scope};
use launcher_store::{InstanceFilter, Listed, Page, StateFilter};
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::Chain;
use crate::{Launcher, ServiceError};

/// How soon changes of other replicas are seen.
const POLL: Duration = Duration::from_secs(1);
const BATCH: u32 = 200;
const PAGE: u32 = 500;
/// How many events wait for a slow client before the reading of more waits too.
const WAITING: usize = 32;

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
    /// The caller's instances as they change (an admin's: everybody's), for as long as the stream is held.
    ///
    /// With the id of the last event seen it resumes behind it; without one, or with one that this database never gave,
    /// it first sends everything that is live.
    pub fn subscribe(
        &self,
        caller: &Caller,
        last_event_id: Option<i64>,
    ) -> impl Stream<Item = FeedEvent> + Send + use<> + 'static {
        let (events, stream) = mpsc::channel(WAITING);
        let (launcher, caller) = (self.clone(), caller.clone());
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = launcher.feed_one(&caller, last_event_id, &events) => outcome,
                () = events.closed() => return,
            };
            if let Err(error) = outcome {
                // The client sees the end of the stream and comes back with the id of the last event it got.
                tracing::warn!(error = %Chain(&error), "an event stream ended early");
            }
        });
        ReceiverStream::new(stream)
    }

    async fn feed_one(
        &self,
        caller: &Caller,
        last_event_id: Option<i64>,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<(), ServiceError> {
        // Listening starts before the first look, so that nothing falls between the two.
        let mut news = self.0.feed.subscribe();
        let latest = self.0.store.feed_latest().await?;
        let mut seen = match last_event_id.filter(|id| (0..=latest).contains(id)) {
            Some(id) => self.catch_up(caller.scope(), id, events).await?,
            None => self.everything(caller, latest, events).await?,
        };
        loop {
            match news.recv().await {
                Ok(News::Changed(event)) => {
                    let mine = caller.scope().includes(&event.listed.instance.owner_email);
                    let moved_in_line = event.listed.queue_position.is_some();
                    if mine && (event.id > seen || moved_in_line) && events.send(event.clone()).await.is_err() {
                        return Ok(());
                    }
                    seen = seen.max(event.id);
                }
                Ok(News::Begun) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    seen = self.catch_up(caller.scope(), seen, events).await?;
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends all that is live; returns the revision up to which everything is told.
    async fn everything(
        &self,
        caller: &Caller,
        latest: i64,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<i64, ServiceError> {
        let filter = InstanceFilter { state: StateFilter::Live, owner_email: None, template_id: None };
        let mut all: Vec<Listed> = Vec::new();
        loop {
            let after = all.last().map(|listed| listed.instance.instance_id);
            let page = self.0.store.instances(caller, &filter, &Page { limit: PAGE, after }).await?;
            let last = page.len() < PAGE as usize;
            all.extend(page);
            if last {
                break;
            }
        }
        all.sort_by_key(|listed| listed.instance.revision);
        for listed in all {
            let id = listed.instance.revision;
            if events.send(FeedEvent { id, listed: Arc::new(listed) }).await.is_err() {
                break;
            }
        }
        Ok(latest)
    }

    /// Sends what changed behind a revision; returns the revision up to which everything is told.
    async fn catch_up(
        &self,
        scope: Scope<'_>,
        mut seen: i64,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<i64, ServiceError> {
        loop {
            let batch = self.0.store.feed_since(scope, seen, BATCH).await?;
            let last = batch.len() < BATCH as usize;
            for listed in batch {
                seen = listed.instance.revision;
                if events.send(FeedEvent { id: seen, listed: Arc::new(listed) }).await.is_err() {
                    return Ok(seen);
                }
            }
            if last {
                return Ok(seen);
            }
        }
    }

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
        let mut any = false;
        loop {
            let batch = self.0.store.feed_since(Scope::Everyone, seen, BATCH).await?;
            let last = batch.len() < BATCH as usize;
            for listed in batch {
                any = true;
                seen = listed.instance.revision;
                self.tell(seen, listed);
            }
            if last {
                break;
            }
        }
        if any {
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
            for listed in self.0.store.queue().await? {
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
