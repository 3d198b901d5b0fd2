//! Noticing that a Workshop's leading process ends.

use std::time::Duration;

use tokio::time::sleep;

use super::keeper::Kept;
use super::process::ProcessId;

/// How often a process is looked at whose end no keeper reports to this program.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Waits for one process.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// Its keeper was started by this program, and reports how it ended.
    Kept(Box<Kept>),
    /// Started by a program before this one: how it ended is not told to us.
    Adopted(ProcessId),
}

impl ExitWatch {
    /// Watches a process that a program before this one started; `None` when it does not run any more.
    pub(super) fn adopt(process: &ProcessId) -> Option<Self> {
        process.is_alive().then(|| Self::Adopted(process.clone()))
    }

    /// Waits until it has ended, and says how, as a sentence. May be called again after it was dropped half-way.
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
