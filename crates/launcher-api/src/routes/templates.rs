//! `/templates/`.

pub(crate) mod archive;
pub(crate) mod create;
pub(crate) mod extend;
pub(crate) mod launch;
pub(crate) mod list;
pub(crate) mod patch;
pub(crate) mod pull_image;
pub(crate) mod read;
pub(crate) mod read_image;
mod read_only;
pub(crate) mod update;
