//! Since when images fail to be pulled. A pod says that they do, and not since when.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// When each Workshop was first seen with an image that could not be pulled; a pull that goes on again is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Pulls(Mutex<HashMap<String, Timestamp>>);

impl Pulls {
    /// Whether an image of a Workshop fails to be pulled now: since when.
    pub(crate) fn seen(&self, name: &str, fails: bool, now: Timestamp) -> Option<Timestamp> {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if fails {
            Some(*since.entry(name.to_owned()).or_insert(now))
        } else {
            since.remove(name);
            None
        }
    }

    /// Forgets a Workshop that has ended or is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
