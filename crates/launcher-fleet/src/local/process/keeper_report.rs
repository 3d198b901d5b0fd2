//! Reports from a keeper to its launcher: one JSON object per line.

use serde::{Deserialize, Serialize};

use super::process_id::PersistentProcessId;

/// A report from a keeper to its launcher.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Report {
    /// The app was started. The process is the app's first one, the leader of its process group.
    Started(PersistentProcessId),
    /// The app could not be started. The number is the system's `errno`.
    NotStarted(i32),
    /// The app's leading process exited.
    Ended(Exit),
}

/// How a process exited.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Exit {
    Status(i32),
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "It ended with status {status}."),
            Self::Signal(signal) => write!(f, "It was killed by signal {signal}."),
        }
    }
}
