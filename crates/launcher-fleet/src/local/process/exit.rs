//! Detects the exit of an app's leading process.

use std::time::Duration;

use launcher_domain::FailureDetail;
use tokio::time::sleep;

use super::keeper_handle::KeeperHandle;
use super::process_id::PersistentProcessId;

/// Polling interval for an app process whose keeper does not report to this launcher.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Waits for the exit of an app's leading process.
#[derive(Debug)]
pub(crate) enum ExitWatch {
    /// This launcher started the app's keeper, and the keeper reports the exit.
    Keeper(Box<KeeperHandle>),
    /// An earlier launcher started the app: this launcher cannot learn its exit status.
    Adopted(PersistentProcessId),
}

impl ExitWatch {
    /// Watches an app process that an earlier launcher started; `None` if it has exited.
    pub(crate) fn adopt(process: &PersistentProcessId) -> Option<Self> {
        process.is_alive().then(|| Self::Adopted(process.clone()))
    }

    /// Waits for the exit, and returns a sentence that describes it. Cancel-safe.
    pub(crate) async fn wait_for_exit(&mut self) -> FailureDetail {
        match self {
            Self::Keeper(keeper) => {
                if let Some(exit) = keeper.wait_for_exit().await {
                    return exit.into();
                }
                wait_until_dead(&keeper.leader).await;
                FailureDetail::KeeperKilled
            }
            Self::Adopted(process) => {
                wait_until_dead(process).await;
                FailureDetail::LauncherRestarted
            }
        }
    }
}

async fn wait_until_dead(process: &PersistentProcessId) {
    while process.is_alive() {
        sleep(POLL_INTERVAL).await;
    }
}
