//! HTTP/1 syntax: finds and parses heads, decodes and encodes bodies. These modules know no access policy and do no
//! I/O.

pub(crate) mod body;
pub(crate) mod chunked;
pub(crate) mod framing;
pub(crate) mod head;
pub(crate) mod header;
pub(crate) mod lines;
pub(crate) mod request_head;
pub(crate) mod summary;
pub(crate) mod target;
