//! Noticing that a Workshop's leading process ends.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::sleep;

use super::process::ProcessId;

/// How often an adopted process is looked at: the kernel tells its end only to the program that started it.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Waits for one process.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// Started by this program.
    Child(Child),
    /// Started by a program before this one: how it ended is not told to us.
    Adopted(ProcessId),
}

impl ExitWatch {
    /// Watches a process that somebody else started; `None` when it does not run any more.
    pub(super) fn adopt(process: &ProcessId) -> Option<Self> {
        process.is_alive().then(|| Self::Adopted(process.clone()))
    }

    /// Waits until it has ended, and says how, as a sentence. May be called again after it was dropped half-way.
    pub(super) async fn ended(&mut self) -> String {
        match self {
            Self::Child(child) => match child.wait().await {
                Ok(status) => describe(status),
                Err(error) => format!("How it ended is unknown ({error})."),
            },
            Self::Adopted(process) => {
                while process.is_alive() {
                    sleep(LOOK_EVERY).await;
                }
                "How it ended is unknown: the launcher was started anew in the meantime.".to_owned()
            }
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("It ended with status {code}."),
        (None, Some(signal)) => format!("It was killed by signal {signal}."),
        (None, None) => "How it ended is unknown.".to_owned(),
    }
}
