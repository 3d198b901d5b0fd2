//! When a condition of a Workshop was first seen. For conditions that the cluster reports without a start time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// When each Workshop was first seen in the condition. Workshops that are no longer in it are forgotten.
#[derive(Debug, Default)]
pub(crate) struct FirstSeen(Mutex<HashMap<String, Timestamp>>);

impl FirstSeen {
    /// Records that the Workshop is in the condition; returns when that was first seen.
    pub(crate) fn record(&self, name: &str, now: Timestamp) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_insert(now)
    }

    /// Forgets a Workshop that is gone or no longer in the condition.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
