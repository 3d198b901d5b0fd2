//! Deliveries so far: which content the program placed at which path.

use std::collections::{BTreeMap, BTreeSet};

use crate::content::Digest;

/// State of one target.
#[derive(Debug, Default)]
pub struct State {
    /// Version of the last complete delivery.
    pub version: Option<String>,
    pub(super) folder: Option<String>,
    /// Contents of the last complete delivery. A file stays listed after the student deleted it.
    pub files: BTreeMap<String, Digest>,
    /// Contents that interrupted runs placed.
    pub(super) placed: BTreeMap<String, BTreeSet<Digest>>,
    /// Files that interrupted runs removed.
    pub(super) removed: BTreeSet<String>,
    pub(super) is_interrupted: bool,
    /// True if the stored state is that of another repository, whose folder the student moved away.
    pub(super) is_other: bool,
}

impl State {
    /// True if this version was delivered completely, and no later run was interrupted.
    #[must_use]
    pub fn is_current(&self, version: &str, folder: Option<&str>) -> bool {
        !self.is_interrupted && self.version.as_deref() == Some(version) && self.folder.as_deref() == folder
    }

    /// True before the first run.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.version.is_none()
    }

    /// Content that the last complete delivery has for a path.
    #[must_use]
    pub fn delivered(&self, path: &str) -> Option<&Digest> {
        self.files.get(path)
    }

    /// True if the program placed this content at this path.
    #[must_use]
    pub fn is_ours(&self, path: &str, content: &Digest) -> bool {
        self.files.get(path) == Some(content) || self.placed.get(path).is_some_and(|placed| placed.contains(content))
    }

    /// True if a missing file is missing because the student deleted it. After an interrupted removal, it counts as removed by
    /// the program, even if a later run recorded a new content: that run may have been killed before it placed the file.
    #[must_use]
    pub fn is_deleted_by_student(&self, path: &str) -> bool {
        self.files.contains_key(path) && !self.removed.contains(path)
    }

    /// True if an interrupted run may have changed this file.
    #[must_use]
    pub fn was_touched(&self, path: &str) -> bool {
        self.placed.contains_key(path) || self.removed.contains(path)
    }

    /// Paths at which the program placed a file.
    pub fn paths(&self) -> BTreeSet<String> {
        self.files.keys().chain(self.placed.keys()).cloned().collect()
    }
}
