//! Runs the loops of the service and stops them.

use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::launcher::Launcher;

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
