//! Reports from a keeper to its launcher: one JSON object per line.

use launcher_domain::FailureDetail;
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

impl From<Exit> for FailureDetail {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Status(status) => Self::ExitStatus { status: status.to_string() },
            Exit::Signal(signal) => Self::Signal { signal: signal.to_string() },
        }
    }
}
