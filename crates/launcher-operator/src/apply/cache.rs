//! Remembers the last apply of each object and the resulting version. An unchanged object is not applied again, so an
//! idle reconcile sends no request to the API server.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// The last apply of each object, by kind and name.
#[derive(Debug, Default)]
pub(crate) struct ApplyCache(Mutex<HashMap<(String, String), Entry>>);

/// One apply: a hash of the applied object, and the resulting version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    hash: u64,
    version: Version,
}

/// UID of the object, and a version of the fields that the operator decides.
pub(super) type Version = (Option<String>, Option<String>);

impl Entry {
    /// Records that `wanted` was applied and resulted in `version`.
    pub(super) fn new(wanted: &impl Serialize, version: Version) -> Self {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(wanted).unwrap_or_default().hash(&mut hasher);
        Self { hash: hasher.finish(), version }
    }
}

impl ApplyCache {
    pub(super) fn contains(&self, key: &(String, String), entry: &Entry) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key) == Some(entry)
    }

    /// True if the object has not changed since the last apply.
    pub(super) fn is_unchanged(&self, key: &(String, String), version: &Version) -> bool {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.get(key).is_some_and(|entry| entry.version == *version)
    }

    pub(super) fn record(&self, key: (String, String), entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, entry);
    }

    /// Forgets a Workshop that is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, of), _| of != name);
    }
}
