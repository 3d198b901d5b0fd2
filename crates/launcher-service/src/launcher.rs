//! The state that all use cases and loops share. Runs the loops and stops them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{Clock, Entropy, TemplatePolicy};
use launcher_store::{Store, StoreError};
use prometheus_client::registry::Registry;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::attempts::Attempts;
use crate::downloads::Downloads;
use crate::error::ServiceError;
use crate::feed::FeedMessage;
use crate::fleets::Fleets;
use crate::hands::hand_changes;
use crate::join::wrong_codes;
use crate::metrics::Metrics;
use crate::restoring::Restores;
use crate::saving::warned_owners;
use crate::settings::Limits;
use crate::snapshots::Snapshots;

/// Maximum changes by which a feed subscriber may lag behind. A subscriber that lags further behind reads from the
/// database.
const FEED_BACKLOG: usize = 256;
/// Timeout of the database ping, shorter than the kubelet's probe timeout of five seconds. At that timeout the kubelet
/// disconnects and the request is cancelled, so a longer ping would never be recorded as failed.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// The use cases. A process has one instance; clones share its state.
#[derive(Debug, Clone)]
pub struct Launcher(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) fleets: Fleets,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) limits: Limits,
    pub(crate) policy: TemplatePolicy,
    pub(crate) metrics: Metrics,
    /// When this process started.
    pub(crate) started_at: Timestamp,
    /// Wakes the dispatch loop.
    pub(crate) dispatch: Notify,
    /// Slots of the downloads of volumes.
    pub(crate) downloads: Arc<Downloads>,
    /// Slots of the checks of course material.
    pub(crate) checks: Semaphore,
    /// Object store of the snapshots, if this launcher saves any.
    pub(crate) snapshots: Option<Snapshots>,
    /// When this launcher last saved the files of an instance; at first, when it started.
    pub(crate) last_saved: Mutex<Timestamp>,
    /// Warnings about owners with the maximum number of snapshots.
    pub(crate) warned_owners: Attempts,
    /// Wrong join codes of each person.
    pub(crate) wrong_codes: Attempts,
    /// Changes of the own hand of each person.
    pub(crate) hand_changes: Attempts,
    /// Wakes the loop that saves snapshots.
    pub(crate) ending: Notify,
    /// The Workshops to which this launcher sends saved files.
    pub(crate) restores: Restores,
    /// Wakes the upkeep loop.
    pub(crate) upkeep: Notify,
    /// Wakes the feed loop.
    pub(crate) changed: Notify,
    pub(crate) feed: broadcast::Sender<FeedMessage>,
}

impl Launcher {
    /// Creates the use cases over a database and its fleets.
    #[must_use]
    pub fn new(
        store: Store,
        fleets: impl Into<Fleets>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        limits: Limits,
        policy: TemplatePolicy,
        snapshots: Option<Snapshots>,
    ) -> Self {
        let (feed, _) = broadcast::channel(FEED_BACKLOG);
        let started_at = clock.now();
        let inner = Inner {
            store,
            fleets: fleets.into(),
            clock,
            entropy,
            limits,
            policy,
            metrics: Metrics::default(),
            started_at,
            dispatch: Notify::new(),
            downloads: Arc::default(),
            checks: Semaphore::new(limits.max_material_checks as usize),
            snapshots,
            last_saved: Mutex::new(started_at),
            warned_owners: warned_owners(),
            wrong_codes: wrong_codes(),
            hand_changes: hand_changes(),
            ending: Notify::new(),
            restores: Restores::default(),
            upkeep: Notify::new(),
            changed: Notify::new(),
            feed,
        };
        Self(Arc::new(inner))
    }

    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    #[must_use]
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.0.entropy
    }

    /// Checks that the database answers, with a timeout shorter than the kubelet's.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`].
    pub async fn ready(&self) -> Result<(), ServiceError> {
        let timed_out = |elapsed: Elapsed| Err(StoreError::Unavailable(elapsed.into()));
        let answer = timeout(PING_TIMEOUT, self.0.store.ping()).await.unwrap_or_else(timed_out);
        self.0.metrics.ready.set(i64::from(answer.is_ok()));
        Ok(answer?)
    }

    pub fn register_metrics(&self, registry: &mut Registry) {
        self.0.metrics.register(registry);
    }
}

/// Time limit for a step that is in progress when the loops stop. Interrupting a step at any point is safe: an
/// uncommitted write is rolled back, and an unanswered fleet call is repeated at the next start.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

impl Launcher {
    /// Runs the loops (dispatch, observe, feed, upkeep, snapshots) until `stop` is cancelled. Each loop then finishes its
    /// current step, or abandons it after three seconds: an unresponsive fleet or database does not delay the stop.
    pub async fn run(&self, stop: CancellationToken) {
        let loops = async {
            tokio::join!(
                self.run_dispatch(stop.clone()),
                self.run_observe(stop.clone()),
                self.run_feed(stop.clone()),
                self.run_upkeep(stop.clone()),
                self.run_snapshots(stop.clone())
            );
        };
        let limit = async {
            stop.cancelled().await;
            sleep(STOP_TIMEOUT).await;
        };
        tokio::select! {
            () = loops => {}
            () = limit => tracing::warn!("loops did not stop in time, the next start repeats their unfinished steps"),
        }
    }
}
