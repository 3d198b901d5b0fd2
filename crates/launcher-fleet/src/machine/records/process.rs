//! The part of a record that describes a workload's process.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Describes the process of a workload in its stored record.
pub(crate) trait Process:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<P: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> Process for P {}
