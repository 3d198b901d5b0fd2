//! Watch cache of a fleet on the launcher's machine: the stored Workshops, and a stream of their changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, unfold};
use launcher_domain::sync::lock;
use launcher_workshop::{ResourceExt, Workshop};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::port::FleetEvent;

/// Maximum number of changes that a slow watcher may lag behind. A slower watcher gets a complete list instead.
const BACKLOG: usize = 256;

/// The Workshops as last stored on disk, and their watchers.
pub(crate) struct WatchCache(Mutex<Content>);

struct Content {
    workshops: BTreeMap<String, Workshop>,
    /// Sends the changes to the watchers. `None` after the fleet has closed.
    changes: Option<broadcast::Sender<FleetEvent>>,
}

impl WatchCache {
    pub(crate) fn new() -> Arc<Self> {
        let (changes, _) = broadcast::channel(BACKLOG);
        Arc::new(Self(Mutex::new(Content { workshops: BTreeMap::new(), changes: Some(changes) })))
    }

    pub(crate) fn get(&self, name: &str) -> Option<Workshop> {
        lock(&self.0).workshops.get(name).cloned()
    }

    pub(crate) fn insert(&self, workshop: Workshop) {
        let mut content = lock(&self.0);
        content.notify(FleetEvent::Applied(Box::new(workshop.clone())));
        content.workshops.insert(workshop.name_any(), workshop);
    }

    pub(crate) fn remove(&self, name: &str) {
        let mut content = lock(&self.0);
        if let Some(workshop) = content.workshops.remove(name) {
            content.notify(FleetEvent::Deleted(Box::new(workshop)));
        }
    }

    pub(crate) fn close(&self) {
        lock(&self.0).changes = None;
    }

    pub(crate) fn watch(self: &Arc<Self>) -> BoxStream<'static, FleetEvent> {
        let watcher = Watcher { cache: Arc::downgrade(self), changes: None };
        unfold(watcher, |mut watcher| async move { watcher.next().await.map(|event| (event, watcher)) }).boxed()
    }

    /// Returns all Workshops and a subscription to later changes. One lock covers both, so that the watcher misses no
    /// change and gets none twice.
    fn relist(&self) -> Option<(Vec<Workshop>, broadcast::Receiver<FleetEvent>)> {
        let content = lock(&self.0);
        let changes = content.changes.as_ref()?.subscribe();
        Some((content.workshops.values().cloned().collect(), changes))
    }
}

impl Content {
    fn notify(&self, event: FleetEvent) {
        if let Some(changes) = &self.changes {
            // Ignore the error: it only means that there is no watcher.
            let _ = changes.send(event);
        }
    }
}

/// State of one watcher's stream. Its weak reference does not keep the fleet alive.
struct Watcher {
    cache: Weak<WatchCache>,
    changes: Option<broadcast::Receiver<FleetEvent>>,
}

impl Watcher {
    async fn next(&mut self) -> Option<FleetEvent> {
        if let Some(changes) = &mut self.changes {
            match changes.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Closed) => return None,
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "fleet watcher missed changes, sending it all Workshops again")
                }
            }
        }
        let (workshops, changes) = self.cache.upgrade()?.relist()?;
        self.changes = Some(changes);
        Some(FleetEvent::Relisted(workshops))
    }
}
