//! The use cases of the workshop launcher, and the two loops that keep rows and Workshops in line.
//!
//! A request writes a row and returns. [`dispatch`](Launcher::run) turns rows into Workshop specs, *observe* turns
//! Workshop statuses into rows, the [feed](Launcher::subscribe) tells callers what changed. Every step is idempotent and
//! level-triggered: whatever is killed between two of them, the next round finds what is left to do in the rows.

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

use crate::feed::News;
use crate::metrics::Metrics;

pub use claim::ClaimError;
pub use error::{Chain, ServiceError};
pub use feed::FeedEvent;
pub use launch::{LaunchRequest, Launched};
pub use launcher_store::{
    ActivityFilter, InstanceFilter, Listed, LoggedActivity, Order, Page, Place, SortBy, StateFilter,
};
pub use overview::{Figures, Hour, Overview, ReadyTimes};
pub use templates::TemplateUpdate;

/// How many changes a slow reader of the feed may fall behind before it reads from the database again.
const FEED_BACKLOG: usize = 256;
/// How long the database may take to say that it is there. A kubelet hangs up after five seconds, and what was asked for it
/// ends there: nobody would note that there was no answer.
const PING_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a step of the loops may still take when they stop. Each can be left wherever it is: a write that is not
/// committed is rolled back, and what the fleet did not answer is asked again.
const LAST_STEP: Duration = Duration::from_secs(3);

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
    /// Since when there is this process.
    begun: Timestamp,
    /// There may be something to dispatch.
    dispatch: Notify,
    /// There may be something to tell.
    changed: Notify,
    feed: broadcast::Sender<News>,
}

impl Launcher {
    /// The use cases over a database and a fleet.
    #[must_use]
    pub fn new(
        store: Store,
        fleet: Arc<dyn Fleet>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        limits: Limits,
    ) -> Self {
        let (feed, _) = broadcast::channel(FEED_BACKLOG);
        let begun = clock.now();
        let inner = Inner {
            store,
            fleet,
            clock,
            entropy,
            limits,
            metrics: Metrics::default(),
            begun,
            dispatch: Notify::new(),
            changed: Notify::new(),
            feed,
        };
        Self(Arc::new(inner))
    }

    /// Runs the loops until `stop` is cancelled: dispatch, observe, feed and upkeep. Then each finishes the step that it is
    /// at, or leaves it after three seconds: a fleet or a database that does not answer keeps no stop waiting.
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
            sleep(LAST_STEP).await;
        };
        tokio::select! {
            () = loops => {}
            () = limit => tracing::warn!("the loops stopped in the middle of a step: the next start finds what is left to do"),
        }
    }

    /// The clock that the use cases go by.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        &*self.0.clock
    }

    /// The random numbers that the use cases draw.
    #[must_use]
    pub fn entropy(&self) -> &dyn Entropy {
        &*self.0.entropy
    }

    /// Whether the database answers, in less time than those wait who ask.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`].
    pub async fn ready(&self) -> Result<(), ServiceError> {
        let silent = |elapsed: Elapsed| Err(StoreError::Unavailable(elapsed.into()));
        let answer = timeout(PING_TIMEOUT, self.0.store.ping()).await.unwrap_or_else(silent);
        self.0.metrics.ready.set(i64::from(answer.is_ok()));
        Ok(answer?)
    }
}
