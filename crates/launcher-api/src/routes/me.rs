//! `/me`.

pub(crate) mod read;
