//! HTTP/1 syntax: finds and parses heads, decodes and encodes bodies. These modules know no access policy and do no
//! I/O.

pub(crate) mod body;
pub(crate) mod chunked;
pub(crate) mod head;
pub(crate) mod request;
