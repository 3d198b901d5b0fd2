//! Connections to clients and to the app, with bounded buffers.

pub(crate) mod buffers;
pub(crate) mod bulk;
pub(crate) mod deadline_timer;
pub(crate) mod socket;
pub(crate) mod upstream;
