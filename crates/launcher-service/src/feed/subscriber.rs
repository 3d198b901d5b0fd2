//! One who watches: what has changed while nobody told, then the news.

use std::sync::Arc;

use futures_util::Stream;
use launcher_domain::{Caller, Scope};
use launcher_store::Changes;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::{BATCH, FeedEvent, News};
use crate::error::Chain;
use crate::{Launcher, ServiceError};

/// How many events wait for a slow client before the reading of more waits too.
const WAITING: usize = 32;

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
            None => self.everything(caller.scope(), latest, events).await?,
        };
        self.line(caller.scope(), seen, events).await?;
        loop {
            match news.recv().await {
                Ok(News::Changed(event)) => {
                    let mine = caller.scope().includes(&event.listed.instance.owner_email);
                    // A place in line changes without the row, but what is older than all that was told is not so any more.
                    let moved_in_line = event.id == seen && event.listed.queue_position.is_some();
                    if mine && (event.id > seen || moved_in_line) && events.send(event.clone()).await.is_err() {
                        return Ok(());
                    }
                    seen = seen.max(event.id);
                }
                Ok(News::Begun) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    seen = self.catch_up(caller.scope(), seen, events).await?;
                    self.line(caller.scope(), seen, events).await?;
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends all that is live but the line, then what has changed meanwhile; returns the revision up to which everything
    /// is told. In the order of the changes, so that whoever leaves in the middle of it can resume behind any of them; and
    /// part by part, since there may be many.
    async fn everything(
        &self,
        scope: Scope<'_>,
        latest: i64,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<i64, ServiceError> {
        let (mut seen, mut more) = (0, true);
        while more {
            let part = self.0.store.feed_live(scope, seen, latest, BATCH).await?;
            (seen, more) = (part.upto, part.more);
            if !send(part, events).await {
                return Ok(latest);
            }
        }
        self.catch_up(scope, latest, events).await
    }

    /// Sends what changed behind a revision; returns the revision up to which everything is told.
    async fn catch_up(
        &self,
        scope: Scope<'_>,
        mut seen: i64,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<i64, ServiceError> {
        let mut more = true;
        while more {
            let batch = self.0.store.feed_since(scope, seen, BATCH).await?;
            (seen, more) = (batch.upto, batch.more);
            if !send(batch, events).await {
                break;
            }
        }
        Ok(seen)
    }

    /// Sends who waits in line, with the places of now: they change without the rows. Whoever resumes behind `seen` is
    /// told of them again.
    async fn line(&self, scope: Scope<'_>, seen: i64, events: &mpsc::Sender<FeedEvent>) -> Result<(), ServiceError> {
        for listed in self.0.store.queue(scope).await? {
            if events.send(FeedEvent { id: seen, listed: Arc::new(listed) }).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Sends each change under its own revision; whether anybody still takes them.
async fn send(changes: Changes, events: &mpsc::Sender<FeedEvent>) -> bool {
    for listed in changes.listed {
        let id = listed.instance.revision;
        if events.send(FeedEvent { id, listed: Arc::new(listed) }).await.is_err() {
            return false;
        }
    }
    true
}
