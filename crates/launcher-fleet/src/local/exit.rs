//! Detects the exit of a Workshop's leading process.

use std::time::Duration;

use tokio::time::sleep;

use super::keeper::KeeperHandle;
use super::process::PersistentProcessId;

/// Polling interval for a process whose keeper does not report to this program.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Waits for one process.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// This program started its keeper, which reports the exit.
    Keeper(Box<KeeperHandle>),
    /// A previous launcher started it: its exit status is unknown.
    Adopted(PersistentProcessId),
}

impl ExitWatch {
    /// Watches a process that a previous launcher started; `None` if it has exited.
    pub(super) fn adopt(process: &PersistentProcessId) -> Option<Self> {
        process.is_alive().then(|| Self::Adopted(process.clone()))
    }

    /// Waits for the exit and describes it in a sentence. Cancel-safe.
    pub(super) async fn wait_for_exit(&mut self) -> String {
        match self {
            Self::Keeper(keeper) => {
                if let Some(exit) = keeper.wait_for_exit().await {
                    return exit.to_string();
                }
                wait_until_dead(&keeper.leader).await;
                "How it ended is unknown: the program that kept its processes was killed before.".to_owned()
            }
            Self::Adopted(process) => {
                wait_until_dead(process).await;
                "How it ended is unknown: the launcher was started anew in the meantime.".to_owned()
            }
        }
    }
}

async fn wait_until_dead(process: &PersistentProcessId) {
    while process.is_alive() {
        sleep(POLL_INTERVAL).await;
    }
}
