//! The feed of changed instances: ordered, resumable, and limited to the scope of each caller.
//!
//! Each change of a row takes the next revision. One loop per process reads new revisions from the database,
//! including changes made by other replicas, and sends them to all subscribers. A subscriber that resumes or lags
//! reads from the database directly.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use launcher_domain::{Attention, Caller, Scope};
use launcher_store::{Changes, ListedInstance};
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::{ErrorChain, ServiceError};
use crate::launcher::Launcher;

/// Polling interval for changes made by other replicas.
const POLL: Duration = Duration::from_secs(1);

/// Maximum changes that one read of the feed returns.
pub(crate) const BATCH: u32 = 200;

/// Maximum events buffered for a slow client. While the buffer is full, the subscriber reads no further changes.
const EVENT_BUFFER: usize = 32;

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
    Changed(FeedEvent),
    /// Members, hands or message of a class have changed.
    Class(Arc<Attention>),
    /// The feed loop has started. It publishes only later changes, so existing subscribers read the earlier ones from
    /// the database.
    Started,
}

/// Revisions up to which changes are published.
#[derive(Debug, Clone, Copy)]
struct Published {
    instances: i64,
    classes: i64,
}

/// Queue position of each queued instance, as last published.
type Positions = HashMap<Uuid, u32>;

impl Launcher {
    pub(crate) async fn run_feed(&self, stop: CancellationToken) {
        let mut seen = None;
        let mut positions = None;
        while !stop.is_cancelled() {
            match self.feed_round(seen, &mut positions).await {
                Ok(published) => seen = Some(published),
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

    /// Publishes every change after the revisions `published`. Returns the last published revisions.
    async fn feed_round(
        &self,
        published: Option<Published>,
        positions: &mut Option<Positions>,
    ) -> Result<Published, ServiceError> {
        let Some(Published { instances: mut seen, classes }) = published else {
            let latest = self.0.store.feed_latest().await?;
            self.publish(FeedMessage::Started);
            return Ok(Published { instances: latest, classes: latest });
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
        Ok(Published { instances: seen, classes: self.publish_classes(classes).await? })
    }

    /// Publishes the classes that changed after the revision `seen`. Returns the last published revision. Reads each class
    /// once for all subscribers, and not at all without any.
    async fn publish_classes(&self, mut seen: i64) -> Result<i64, ServiceError> {
        for (class_id, revision) in self.0.store.feed_classes(seen).await? {
            if self.0.feed.receiver_count() > 0 {
                self.publish(FeedMessage::Class(Arc::new(self.0.store.attention(class_id).await?)));
            }
            seen = revision;
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

/// Returns the events that `serve` sends until it ends or the stream is dropped. After an error, logs `failure`: the client sees
/// the end of the stream and reconnects, with the id of the last event it received if events have one.
pub(crate) fn event_stream<T, F>(
    buffer: usize,
    failure: &'static str,
    serve: impl FnOnce(mpsc::Sender<T>) -> F,
) -> ReceiverStream<T>
where
    T: Send + 'static,
    F: Future<Output = Result<(), ServiceError>> + Send + 'static,
{
    let (events, stream) = mpsc::channel(buffer);
    let serving = serve(events.clone());
    tokio::spawn(async move {
        let outcome = tokio::select! {
            outcome = serving => outcome,
            () = events.closed() => return,
        };
        if let Err(error) = outcome {
            tracing::warn!(error = %ErrorChain(&error), "{failure}");
        }
    });
    ReceiverStream::new(stream)
}

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
        let (launcher, caller) = (self.clone(), caller.clone());
        event_stream(EVENT_BUFFER, "reading changes failed, closing event stream", |events| async move {
            launcher.serve_subscriber(&caller, last_event_id, &events).await
        })
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
                Ok(FeedMessage::Class(_)) => {}
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
