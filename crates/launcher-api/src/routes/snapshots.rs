//! `/snapshots/`.

pub(crate) mod delete;
pub(crate) mod download;
pub(crate) mod list;
