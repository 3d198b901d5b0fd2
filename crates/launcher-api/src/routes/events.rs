//! `/events`.

pub(crate) mod stream;
