//! Remembers when the operator first saw a condition of a Workshop. Used for conditions that the cluster reports
//! without a start time.

use std::collections::HashMap;
use std::sync::Mutex;

use jiff::Timestamp;
use launcher_domain::sync::lock;

/// Time at which the operator first saw one condition, for each Workshop that is in this condition now.
#[derive(Debug, Default)]
pub(crate) struct FirstSeen(Mutex<HashMap<String, Timestamp>>);

impl FirstSeen {
    /// Records that the Workshop is in the condition, and returns the time at which this was first recorded.
    pub(crate) fn record(&self, name: &str, now: Timestamp) -> Timestamp {
        *lock(&self.0).entry(name.to_owned()).or_insert(now)
    }

    /// Returns the number of Workshops that are in the condition.
    pub(crate) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// Removes a Workshop that is gone or no longer in the condition.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).remove(name);
    }
}
