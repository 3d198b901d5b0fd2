//! The client's side of a connection: reads heads, tracks progress, and delivers the last response before the close.

pub(crate) mod client;
pub(crate) mod closing;
pub(crate) mod head_reader;
pub(crate) mod progress;
