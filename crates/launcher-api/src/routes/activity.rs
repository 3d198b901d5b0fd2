//! `/activity/`.

pub(crate) mod list;
