//! Writes header lines, and recognizes header lines that apply to one connection only.

use crate::http1::framing::Framing;
use crate::http1::header::{HeaderKind, elements};

/// Appends one header line.
pub(crate) fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends the header line that defines a message's framing. Appends no line for a message without a body.
pub(crate) fn put_framing(framing: Framing, out: &mut Vec<u8>) {
    match framing {
        Framing::Empty => {}
        Framing::Length(length) => put_length(length, out),
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
}

/// Appends a Content-Length line.
pub(crate) fn put_length(length: u64, out: &mut Vec<u8>) {
    put(out, b"Content-Length", itoa::Buffer::new().format(length).as_bytes());
}

/// Returns true if a `Connection` header lists the header `name`. A listed header applies to one connection only, so
/// the sidecar does not forward it.
pub(crate) fn is_nominated(name: &[u8], headers: &[httparse::Header<'_>], kinds: &[HeaderKind]) -> bool {
    let connections = headers.iter().zip(kinds).filter(|(_, kind)| **kind == HeaderKind::Connection);
    connections.flat_map(|(header, _)| elements(header.value)).any(|option| option.eq_ignore_ascii_case(name))
}
