//! Remembers what was last applied, and what became of it. An object that is as it was left is not applied again: a
//! reconcile costs the API server nothing while nothing changes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// The last apply of each object, by kind and name.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<HashMap<(String, String), Entry>>);

/// One apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    wanted: u64,
    left_as: Version,
}

/// Which object, and which version of what we decide about it.
pub(super) type Version = (Option<String>, Option<String>);

impl Entry {
    /// `wanted` was applied, and the object was then of this version.
    pub(super) fn new(wanted: &impl Serialize, left_as: Version) -> Self {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(wanted).unwrap_or_default().hash(&mut hasher);
        Self { wanted: hasher.finish(), left_as }
    }
}

impl Ledger {
    pub(super) fn holds(&self, key: &(String, String), entry: &Entry) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key) == Some(entry)
    }

    /// True when the object has not changed since the last apply, whatever that was.
    pub(super) fn is_as_left(&self, key: &(String, String), version: &Version) -> bool {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).is_some_and(|entry| entry.left_as == *version)
    }

    pub(super) fn note(&self, key: (String, String), entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, entry);
    }

    /// Forgets a Workshop that is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, of), _| of != name);
    }
}
