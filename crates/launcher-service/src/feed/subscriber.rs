//! One subscriber of the feed: first the changes that it missed, then the live ones.

use std::sync::Arc;

use futures_util::Stream;
use launcher_domain::{Caller, Scope};
use launcher_store::Changes;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::message::{BATCH, FeedEvent, FeedMessage};
use crate::error::{ErrorChain, ServiceError};
use crate::launcher::Launcher;

/// Maximum events buffered for a slow client. While the buffer is full, the subscriber reads no further changes.
const EVENT_BUFFER: usize = 32;

impl Launcher {
    /// Streams the changes of the caller's instances, or of all instances for an admin, until the stream is dropped.
    ///
    /// If the client sends the id of its last event, the stream resumes after that event. Without an id, or with an id
    /// that this database never issued, the stream first sends all live instances.
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
                tracing::warn!(error = %ErrorChain(&error), "reading changes failed, closing event stream");
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
        // Subscribe before the first read of the database: a change between the two would otherwise be lost.
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
                    // Skip events whose revision was already sent, except those with a new queue position: a queue
                    // position changes without a new revision.
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

    /// Sends all live instances except the queued ones, in batches, and then the changes made in the meantime. Returns
    /// the revision up to which all changes were sent. Events are sent in the order of the changes, so a client that
    /// disconnects can resume after any event.
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

    /// Sends the changes after a revision. Returns the revision up to which all changes were sent.
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

    /// Sends the queued instances with their current queue positions. Positions change without a new revision, so a
    /// client that resumes after `seen` receives these instances again.
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

/// Sends each change with its own revision as the event id. Returns false when the client has disconnected.
async fn send(changes: Changes, events: &mpsc::Sender<FeedEvent>) -> bool {
    for listed in changes.listed {
        let id = listed.instance.revision;
        if events.send(FeedEvent { id, listed: Arc::new(listed) }).await.is_err() {
            return false;
        }
    }
    true
}
