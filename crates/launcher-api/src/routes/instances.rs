//! `/instances/`.

pub(crate) mod extend;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod restart;
pub(crate) mod resume;
pub(crate) mod suspend;
pub(crate) mod terminate;
