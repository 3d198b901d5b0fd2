//! Cache of the last apply of each object and the resulting version. The operator does not apply an unchanged object
//! again, so a reconcile without changes sends no request to the API server.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use launcher_domain::sync::lock;
use serde::Serialize;

/// The last apply of each object. The keys are the object's kind and name.
#[derive(Debug, Default)]
pub(crate) struct ApplyCache(Mutex<HashMap<(String, String), Entry>>);

/// One apply: the hash of the applied object, and the object's version after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    hash: u64,
    version: Version,
}

/// UID of an object, and its resource version.
pub(crate) type Version = (Option<String>, Option<String>);

impl Entry {
    /// Creates the entry for an apply of `wanted` after which the object had `version`.
    pub(crate) fn new(wanted: &impl Serialize, version: Version) -> Self {
        let mut hasher = DefaultHasher::new();
        serde_json::to_string(wanted).unwrap_or_default().hash(&mut hasher);
        Self { hash: hasher.finish(), version }
    }
}

impl ApplyCache {
    pub(crate) fn contains(&self, key: &(String, String), entry: &Entry) -> bool {
        lock(&self.0).get(key) == Some(entry)
    }

    pub(crate) fn record(&self, key: (String, String), entry: Entry) {
        lock(&self.0).insert(key, entry);
    }

    /// Removes the entries of a Workshop that is gone.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).retain(|(_, of), _| of != name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_workshop_has_no_entries_and_others_keep_theirs() {
        let cache = ApplyCache::default();
        let entry = Entry::new(&"object", (Some("uid".to_owned()), Some("1".to_owned())));
        let key = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let keys = [key("Ingress", "gone"), key("Service", "gone"), key("Ingress", "other")];
        for key in &keys {
            cache.record(key.clone(), entry.clone());
        }
        cache.forget("gone");
        assert_eq!(keys.map(|key| cache.contains(&key, &entry)), [false, false, true]);
    }
}
