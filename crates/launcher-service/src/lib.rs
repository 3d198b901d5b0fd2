//! The use cases of the workshop launcher, and the two loops that reconcile rows and Workshops.
//!
//! A request writes a row and returns. [`dispatch`](Launcher::run) turns rows into Workshop specs, *observe* turns
//! Workshop statuses into rows, and the [feed](Launcher::subscribe) sends changes to callers. Every step is
//! idempotent and level-triggered: after a crash between two steps, the next round finds the remaining work in the
//! rows.

mod activities;
mod change;
mod claim;
mod dispatch;
mod error;
mod feed;
mod instances;
mod launch;
mod metrics;
mod observe;
mod overview;
mod templates;
mod traces;
mod upkeep;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{Clock, Entropy, Limits};
use launcher_fleet::Fleet;
use launcher_store::{Store, StoreError};
use tokio::sync::{Notify, broadcast};
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::feed::FeedMessage;
use crate::metrics::Metrics;

pub use claim::ClaimError;
pub use error::{ErrorChain, ServiceError};
pub use feed::FeedEvent;
pub use launch::{LaunchRequest, Launched};
pub use launcher_store::{
    ActivityFilter, Cursor, InstanceFilter, ListedInstance, LoggedActivity, Page, SortBy, SortOrder, StateFilter,
};
pub use overview::{Hour, LaunchStats, Overview, ReadyTimes};
pub use templates::TemplateUpdate;

/// Maximum changes that a feed subscriber may lag before it reads from the database again.
const FEED_BACKLOG: usize = 256;
/// Timeout of the database ping. A kubelet disconnects after five seconds, which cancels the request: a longer ping
/// would never be recorded as failed.
const PING_TIMEOUT: Duration = Duration::from_secs(3);
/// Time limit for a step that is in progress when the loops stop. Each step can be interrupted anywhere: an uncommitted
/// write is rolled back, and an unanswered fleet call is repeated.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// The use cases. Cheap to clone; one per process.
#[derive(Debug, Clone)]
pub struct Launcher(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    fleet: Arc<dyn Fleet>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    limits: Limits,
    metrics: Metrics,
    /// When this process started.
    started_at: Timestamp,
    /// Wakes the dispatch loop.
    dispatch: Notify,
    /// Wakes the feed loop.
    changed: Notify,
    feed: broadcast::Sender<FeedMessage>,
}

impl Launcher {
    /// Creates the use cases over a database and a fleet.
    #[must_use]
    pub fn new(
        store: Store,
        fleet: Arc<dyn Fleet>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        limits: Limits,
    ) -> Self {
        let (feed, _) = broadcast::channel(FEED_BACKLOG);
        let started_at = clock.now();
        let inner = Inner {
            store,
            fleet,
            clock,
            entropy,
            limits,
            metrics: Metrics::default(),
            started_at,
            dispatch: Notify::new(),
            changed: Notify::new(),
            feed,
        };
        Self(Arc::new(inner))
    }

    /// Runs the loops (dispatch, observe, feed, upkeep) until `stop` is cancelled. Each loop then finishes its
    /// current step, or abandons it after three seconds: an unresponsive fleet or database does not delay the stop.
    pub async fn run(&self, stop: CancellationToken) {
        let loops = async {
            tokio::join!(
                self.run_dispatch(stop.clone()),
                self.run_observe(stop.clone()),
                self.run_feed(stop.clone()),
                self.run_upkeep(stop.clone())
            );
        };
        let limit = async {
            stop.cancelled().await;
            sleep(STOP_TIMEOUT).await;
        };
        tokio::select! {
            () = loops => {}
            () = limit => tracing::warn!("loops stopped during a step, the next start resumes the work"),
        }
    }

    /// The clock of the use cases.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    /// The random number source of the use cases.
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
}
