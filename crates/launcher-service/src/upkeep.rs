//! Upkeep: what no event would bring about.

use std::time::Duration;

use jiff::SignedDuration;
use launcher_domain::{FailureCode, FailureReason, InstanceState};
use tokio_util::sync::CancellationToken;

use crate::error::Chain;
use crate::{Launcher, ServiceError};

const EVERY: Duration = Duration::from_secs(30);
/// How much longer than the fleet the service waits before it gives up on a start: the fleet's own explanation, when
/// there is one, is better.
const MARGIN: Duration = Duration::from_secs(60);

impl Launcher {
    pub(crate) async fn run_upkeep(&self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.upkeep_round().await {
                tracing::warn!(error = %Chain(&error), "upkeep is tried again");
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn upkeep_round(&self) -> Result<(), ServiceError> {
        self.0.metrics.counted(&self.0.store.count_states().await?);
        self.give_up_on_slow_starts().await?;
        let history = SignedDuration::try_from(self.0.limits.history).unwrap_or(SignedDuration::MAX);
        if let Ok(before) = self.0.clock.now().checked_sub(history) {
            let purged = self.0.store.purge_ended(before).await?;
            if purged > 0 {
                tracing::info!(purged, "ended instances were purged");
            }
            let purged = self.0.store.purge_activities(before).await?;
            if purged > 0 {
                tracing::info!(purged, "old lines of the activity log were purged");
            }
        }
        Ok(())
    }

    /// Fails what has been starting for longer than the start timeout, when the fleet does not say so itself.
    async fn give_up_on_slow_starts(&self) -> Result<(), ServiceError> {
        let patience = self.0.limits.start_timeout + MARGIN;
        let patience = SignedDuration::try_from(patience).unwrap_or(SignedDuration::MAX);
        let now = self.0.clock.now();
        for instance in self.0.store.observe_with_workshop().await? {
            let since = instance.dispatched_at.filter(|_| instance.state == InstanceState::Starting);
            let due = since.and_then(|since| since.checked_add(patience).ok());
            if due.is_some_and(|due| due < now) {
                self.fail(&instance.k8s_name, &FailureReason::new(FailureCode::StartTimeout, None)).await?;
            }
        }
        Ok(())
    }
}
