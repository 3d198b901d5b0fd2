//! The last crash of a running workshop's app, in words.

use jiff::Timestamp;
use launcher_domain::{Crash, FailureCode, Instance, InstanceState};

use super::instant::Instant;
use crate::pages::language::{Around, Language, Text};

/// A crash after which the app was started again.
#[derive(Debug, Clone)]
pub(crate) struct CrashView {
    pub(crate) at: Instant,
    /// Sentence around the time: the cause, and the restart.
    pub(crate) event: Around,
    /// Sentence about the files.
    pub(crate) files: Text,
    /// Sentence with the next step of the user.
    pub(crate) advice: Text,
}

impl CrashView {
    /// Converts the last crash of an instance to text as seen at `now`; `None` unless the instance is running. The page
    /// of a failed instance shows the reason of the failure instead.
    pub(crate) fn of(t: Language, instance: &Instance, now: Timestamp) -> Option<Self> {
        let crash = instance.last_crash.as_ref().filter(|_| instance.state == InstanceState::Running)?;
        let Crash { at, code, files_lost } = crash;
        let (event, advice) = match code {
            FailureCode::OutOfMemory => ("crash-out-of-memory", "crash-advice-out-of-memory"),
            FailureCode::Evicted | FailureCode::NodeLost => ("crash-moved", "crash-advice-moved"),
            _ => ("crash-crashed", "crash-advice-crashed"),
        };
        Some(Self {
            at: Instant::seen_at(t, now, *at),
            event: t.around(event),
            files: t.text(if *files_lost { "crash-files-lost" } else { "crash-files-kept" }),
            advice: t.text(advice),
        })
    }
}
