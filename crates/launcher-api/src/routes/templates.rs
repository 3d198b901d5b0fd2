//! `/templates/`.

pub(crate) mod archive;
pub(crate) mod create;
pub(crate) mod launch;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod update;
