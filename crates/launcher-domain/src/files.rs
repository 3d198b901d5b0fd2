//! Fate of a workshop's files at its end. All pages and confirmations state it.

use std::time::Duration;

use crate::instance::{Instance, InstanceState};
use crate::snapshot::SnapshotState;

/// Retentions of files that outlive a workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRetention {
    /// Retention of volumes after their last use; `None` without end.
    pub volumes: Option<Duration>,
    /// Retention of the files that the end of a workshop saves; `None` if the launcher saves none.
    pub snapshots: Option<Duration>,
}

/// Fate of a workshop's files at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilesAtEnd {
    /// A volume keeps them for the next launch. It is deleted after this time without use; `None`: never.
    Kept(Option<Duration>),
    /// The end saves them for this time.
    Saved(Duration),
    /// The workshop was never ready, so it has no files yet.
    NoneYet,
    /// They are deleted.
    Deleted,
}

impl FilesAtEnd {
    /// Returns what happens to the files. `is_planned`: the end saves the files if the launcher saves any.
    #[must_use]
    pub fn of(has_volume: bool, is_planned: bool, retention: FileRetention) -> Self {
        match retention.snapshots.filter(|_| is_planned) {
            _ if has_volume => Self::Kept(retention.volumes),
            Some(time) => Self::Saved(time),
            None => Self::Deleted,
        }
    }
}

impl Instance {
    /// Returns what happens to the files at the end of the lifetime.
    #[must_use]
    pub fn files_at_end(&self, retention: FileRetention) -> FilesAtEnd {
        let is_planned = self.snapshot.as_ref().is_some_and(|snapshot| snapshot.state == SnapshotState::Planned);
        FilesAtEnd::of(self.volume.is_some(), is_planned, retention)
    }

    /// Returns what happens to the files if the workshop is ended now.
    #[must_use]
    pub fn files_if_ended(&self, retention: FileRetention) -> FilesAtEnd {
        let is_new = matches!(self.state, InstanceState::Queued | InstanceState::Starting);
        match self.files_at_end(retention) {
            FilesAtEnd::Saved(_) | FilesAtEnd::Deleted if is_new => FilesAtEnd::NoneYet,
            files => files,
        }
    }
}
