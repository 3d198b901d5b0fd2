//! Detects the exit of a Workshop's leading process.

use std::time::Duration;

use tokio::time::sleep;

use super::keeper::Kept;
use super::process::ProcessId;

/// Polling interval for a process whose keeper does not report to this program.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Waits for one process.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// This program started its keeper, which reports the exit.
    Kept(Box<Kept>),
    /// A previous launcher started it: its exit status is unknown.
    Adopted(ProcessId),
}

impl ExitWatch {
    /// Watches a process that a previous launcher started; `None` if it has exited.
    pub(super) fn adopt(process: &ProcessId) -> Option<Self> {
        process.is_alive().then(|| Self::Adopted(process.clone()))
    }

    /// Waits for the exit and describes it in a sentence. Cancel-safe.
    pub(super) async fn ended(&mut self) -> String {
        match self {
            Self::Kept(kept) => {
                if let Some(exit) = kept.ended().await {
                    return exit.to_string();
                }
                until_dead(&kept.leader).await;
                "How it ended is unknown: the program that kept its processes was killed before.".to_owned()
            }
            Self::Adopted(process) => {
                until_dead(process).await;
                "How it ended is unknown: the launcher was started anew in the meantime.".to_owned()
            }
        }
    }
}

async fn until_dead(process: &ProcessId) {
    while process.is_alive() {
        sleep(LOOK_EVERY).await;
    }
}
