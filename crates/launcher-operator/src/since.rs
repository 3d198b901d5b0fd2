//! Since when something has been so with a Workshop, where the cluster says that it is so, and not since when.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// When something was first seen with each Workshop. What is not so any more is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Since(Mutex<HashMap<String, Timestamp>>);

impl Since {
    /// It is so with this Workshop: since when.
    pub(crate) fn holds(&self, name: &str, now: Timestamp) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_insert(now)
    }

    /// It is not so with this Workshop, or that one is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
