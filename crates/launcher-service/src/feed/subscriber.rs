//! One subscriber of the feed: first the changes that it missed, then the live ones.

use std::sync::Arc;

use futures_util::Stream;
use launcher_domain::{Caller, Scope};
use launcher_store::Changes;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::{BATCH, FeedEvent, FeedMessage};
use crate::error::ErrorChain;
use crate::{Launcher, ServiceError};

/// Maximum events buffered for a slow client before reading pauses.
const EVENT_BUFFER: usize = 32;

impl Launcher {
    /// Streams the changes of the caller's instances, or of all instances for an admin, until the stream is dropped.
    ///
    /// With the id of the last event seen, the stream resumes after it. Without an id, or with one that this database
    /// never issued, the stream first sends all live instances.
    pub fn subscribe(
        &self,
        caller: &Caller,
        last_event_id: Option<i64>,
    ) -> impl Stream<Item = FeedEvent> + Send + use<> + 'static {
        let (events, stream) = mpsc::channel(EVENT_BUFFER);
        let (launcher, caller) = (self.clone(), caller.clone());
        tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = launcher.serve_subscriber(&caller, last_event_id, &events) => outcome,
                () = events.closed() => return,
            };
            if let Err(error) = outcome {
                // The client sees the end of the stream and reconnects with the id of the last event it received.
                tracing::warn!(error = %ErrorChain(&error), "event stream failed");
            }
        });
        ReceiverStream::new(stream)
    }

    async fn serve_subscriber(
        &self,
        caller: &Caller,
        last_event_id: Option<i64>,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<(), ServiceError> {
        // Subscribing before the first read leaves no gap between the two.
        let mut messages = self.0.feed.subscribe();
        let latest = self.0.store.feed_latest().await?;
        let mut seen = match last_event_id.filter(|id| (0..=latest).contains(id)) {
            Some(id) => self.catch_up(caller.scope(), id, events).await?,
            None => self.send_live(caller.scope(), latest, events).await?,
        };
        self.send_queue(caller.scope(), seen, events).await?;
        loop {
            match messages.recv().await {
                Ok(FeedMessage::Changed(event)) => {
                    let mine = caller.scope().includes(&event.listed.instance.owner_email);
                    // A new queue position does not change the row, so its event repeats the latest revision. Older
                    // events are outdated.
                    let has_new_position = event.id == seen && event.listed.queue_position.is_some();
                    if mine && (event.id > seen || has_new_position) && events.send(event.clone()).await.is_err() {
                        return Ok(());
                    }
                    seen = seen.max(event.id);
                }
                Ok(FeedMessage::Started) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    seen = self.catch_up(caller.scope(), seen, events).await?;
                    self.send_queue(caller.scope(), seen, events).await?;
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Sends all live instances except the queued ones, then the changes made meanwhile. Returns the revision up to
    /// which everything was sent. Events follow the order of changes, so a client that disconnects midway can resume
    /// after any of them. They are read in batches, since there may be many.
    async fn send_live(
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

    /// Sends the changes after a revision. Returns the revision up to which everything was sent.
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

    /// Sends the queued instances with their current positions, which change without the rows. A client that resumes
    /// after `seen` receives them again.
    async fn send_queue(
        &self,
        scope: Scope<'_>,
        seen: i64,
        events: &mpsc::Sender<FeedEvent>,
    ) -> Result<(), ServiceError> {
        for listed in self.0.store.queue(scope).await? {
            if events.send(FeedEvent { id: seen, listed: Arc::new(listed) }).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Sends each change under its own revision. Returns false when the client has disconnected.
async fn send(changes: Changes, events: &mpsc::Sender<FeedEvent>) -> bool {
    for listed in changes.listed {
        let id = listed.instance.revision;
        if events.send(FeedEvent { id, listed: Arc::new(listed) }).await.is_err() {
            return false;
        }
    }
    true
}
