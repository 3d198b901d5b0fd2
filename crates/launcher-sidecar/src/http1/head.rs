//! Heads of requests and responses: their end, the limits on their size, and their header lines.

use std::mem::MaybeUninit;

use crate::http1::body::Framing;

/// Maximum bytes of a head, including its final empty line.
pub(crate) const MAX_HEAD_BYTES: usize = crate::memory::HEAD;
/// Maximum header lines of a request.
pub(crate) const MAX_REQUEST_LINES: usize = 100;
/// Maximum header lines of an app's response. Responses need more lines than requests: each cookie has a separate line.
pub(crate) const MAX_RESPONSE_LINES: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The final empty line has not arrived yet.
    Incomplete,
    /// The head is this many bytes long.
    Complete(usize),
    /// The head has more bytes or more lines than allowed.
    TooLarge,
    /// The first byte cannot begin an HTTP/1 head.
    Malformed,
    /// A line ends with a line feed alone.
    BareLineFeed,
}

/// Searches for the end of a head. It scans each byte once, even if the bytes arrive one by one.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    scanned: usize,
    line_start: usize,
    lines: usize,
}

impl Scanner {
    /// Continues the scan. `bytes` is the head from its start, including the bytes of earlier calls.
    pub(crate) fn scan(&mut self, bytes: &[u8], max_lines: usize) -> Scan {
        if bytes.first().is_some_and(|&first| !is_token(first)) {
            return Scan::Malformed;
        }
        for offset in memchr::memchr_iter(b'\n', &bytes[self.scanned..]) {
            let end = self.scanned + offset;
            if end == 0 || bytes[end - 1] != b'\r' {
                return Scan::BareLineFeed;
            }
            if end + 1 > MAX_HEAD_BYTES {
                return Scan::TooLarge;
            }
            if end - self.line_start == 1 {
                return Scan::Complete(end + 1);
            }
            self.lines += 1;
            self.line_start = end + 1;
            // Do not count the first line: it is the request line or status line, and no header line.
            if self.lines > max_lines + 1 {
                return Scan::TooLarge;
            }
        }
        self.scanned = bytes.len();
        if bytes.len() >= MAX_HEAD_BYTES { Scan::TooLarge } else { Scan::Incomplete }
    }
}

/// Storage for the header lines of one head. It is uninitialized, because clearing it would cost time for each request.
pub(crate) type HeaderStorage<'b, const N: usize> = [MaybeUninit<httparse::Header<'b>>; N];

/// Kind of a header line. It determines how the sidecar handles the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    Accept,
    Connection,
    ContentLength,
    Cookie,
    Expect,
    ForwardedFor,
    ForwardedHost,
    ForwardedProto,
    Host,
    Origin,
    SetCookie,
    TransferEncoding,
    Upgrade,
    /// Applies to one connection only. The sidecar never forwards it.
    HopByHop,
    /// Carries the caller's identity. The sidecar never forwards it.
    Identity,
    /// Any other header line.
    Other,
}

impl HeaderKind {
    /// Returns the kind of a header line by its name. Ignores case.
    pub(crate) fn of(name: &[u8]) -> Self {
        let candidates: &[(&[u8], Self)] = match name.len() {
            2 => &[(b"te", Self::HopByHop)],
            4 => &[(b"host", Self::Host)],
            6 => &[
                (b"accept", Self::Accept),
                (b"cookie", Self::Cookie),
                (b"origin", Self::Origin),
                (b"expect", Self::Expect),
            ],
            7 => &[(b"upgrade", Self::Upgrade), (b"trailer", Self::HopByHop)],
            10 => {
                &[(b"connection", Self::Connection), (b"set-cookie", Self::SetCookie), (b"keep-alive", Self::HopByHop)]
            }
            14 => &[(b"content-length", Self::ContentLength), (b"http2-settings", Self::HopByHop)],
            15 => &[(b"x-forwarded-for", Self::ForwardedFor)],
            16 => &[(b"x-forwarded-host", Self::ForwardedHost), (b"proxy-connection", Self::HopByHop)],
            17 => &[(b"transfer-encoding", Self::TransferEncoding), (b"x-forwarded-proto", Self::ForwardedProto)],
            18 => &[(b"proxy-authenticate", Self::HopByHop)],
            19 => &[(b"proxy-authorization", Self::HopByHop)],
            _ => return Self::Other,
        };
        candidates.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(Self::Other, |&(_, kind)| kind)
    }
}

/// True if the byte is allowed in methods and header names (RFC 9110, 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the trimmed elements of a comma-separated header value. Skips empty elements.
pub(crate) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

/// Appends one header line.
pub(crate) fn put_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
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
    put_line(out, b"Content-Length", itoa::Buffer::new().format(length).as_bytes());
}

/// Returns true if a `Connection` header lists the header `name`. A listed header applies to one connection only, so
/// the sidecar does not forward it.
pub(crate) fn is_nominated(name: &[u8], headers: &[httparse::Header<'_>], kinds: &[HeaderKind]) -> bool {
    let connections = headers.iter().zip(kinds).filter(|(_, kind)| **kind == HeaderKind::Connection);
    connections.flat_map(|(header, _)| elements(header.value)).any(|option| option.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_ends_at_empty_line_for_any_split() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        let mut scanner = Scanner::default();
        for length in 1..27 {
            assert_eq!(scanner.scan(&head[..length], 100), Scan::Incomplete, "{length}");
        }
        assert_eq!(scanner.scan(head, 100), Scan::Complete(27));
        assert_eq!(Scanner::default().scan(head, 100), Scan::Complete(27));
    }

    #[test]
    fn bare_line_feeds_and_non_http_bytes_are_malformed() {
        assert_eq!(Scanner::default().scan(b"GET / HTTP/1.1\nHost: a\r\n\r\n", 100), Scan::BareLineFeed);
        for bytes in [&b"\n"[..], b"\x16\x03\x01", b" GET /"] {
            assert_eq!(Scanner::default().scan(bytes, 100), Scan::Malformed, "{bytes:?}");
        }
    }

    #[test]
    fn head_with_too_many_lines_or_bytes_is_too_large() {
        let head =
            |lines: usize| [b"GET / HTTP/1.1\r\n".to_vec(), b"a: b\r\n".repeat(lines), b"\r\n".to_vec()].concat();
        assert!(matches!(Scanner::default().scan(&head(100), 100), Scan::Complete(_)));
        assert_eq!(Scanner::default().scan(&head(101), 100), Scan::TooLarge);
        assert_eq!(Scanner::default().scan(&vec![b'a'; MAX_HEAD_BYTES], 100), Scan::TooLarge);
    }
}
