//! Finding a head in the bytes of a connection, within limits, and knowing its header lines by name.

use std::mem::MaybeUninit;

/// How large a head may be, in bytes, its last empty line included.
pub(crate) const MAX_HEAD_BYTES: usize = crate::memory::HEAD;
/// How many header lines a request may have.
pub(crate) const MAX_REQUEST_LINES: usize = 100;
/// How many header lines an app's response may have: cookies come one a line.
pub(crate) const MAX_RESPONSE_LINES: usize = 200;

/// Room for the header lines of one head.
pub(crate) type Room<'b, const N: usize> = [MaybeUninit<httparse::Header<'b>>; N];

/// What is known of a head that may not be all there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The empty line that ends it is still to come.
    Incomplete,
    /// The head is this many bytes long.
    Complete(usize),
    /// More bytes or more lines than are allowed.
    TooLarge,
    /// No head of HTTP/1 begins like this, or a line does not end in CR LF.
    Malformed,
}

/// Looks for a head's end. It looks at each byte once, however slowly they come.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    looked_at: usize,
    line_start: usize,
    lines: usize,
}

impl Scanner {
    /// Looks on, in the bytes of a head from its start, all those given before included.
    pub(crate) fn scan(&mut self, bytes: &[u8], max_lines: usize) -> Scan {
        if bytes.first().is_some_and(|&first| !is_token(first)) {
            return Scan::Malformed;
        }
        for offset in memchr::memchr_iter(b'\n', &bytes[self.looked_at..]) {
            let end = self.looked_at + offset;
            if end == 0 || bytes[end - 1] != b'\r' {
                return Scan::Malformed;
            }
            if end + 1 > MAX_HEAD_BYTES {
                return Scan::TooLarge;
            }
            if end - self.line_start == 1 {
                return Scan::Complete(end + 1);
            }
            self.lines += 1;
            self.line_start = end + 1;
            // The first line is the request's or the status line.
            if self.lines > max_lines + 1 {
                return Scan::TooLarge;
            }
        }
        self.looked_at = bytes.len();
        if bytes.len() >= MAX_HEAD_BYTES { Scan::TooLarge } else { Scan::Incomplete }
    }
}

/// What a header line is to a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
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
    /// Speaks of one connection only, and is never forwarded.
    HopByHop,
    /// Says who is calling; never forwarded.
    Identity,
    /// Anything else.
    Other,
}

impl Known {
    /// Tells what a header line is by its name, in any case.
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

/// True for a character of a method or a header name (RFC 9110, 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The elements of a comma-separated header value, trimmed, without empty ones.
pub(crate) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_its_empty_line_however_it_is_cut() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        let mut scanner = Scanner::default();
        for length in 1..27 {
            assert_eq!(scanner.scan(&head[..length], 100), Scan::Incomplete, "{length}");
        }
        assert_eq!(scanner.scan(head, 100), Scan::Complete(27));
        assert_eq!(Scanner::default().scan(head, 100), Scan::Complete(27));
    }

    #[test]
    fn bare_line_feeds_and_things_that_are_not_http_are_malformed() {
        for bytes in [&b"GET / HTTP/1.1\nHost: a\r\n\r\n"[..], b"\n", b"\x16\x03\x01", b" GET /"] {
            assert_eq!(Scanner::default().scan(bytes, 100), Scan::Malformed, "{bytes:?}");
        }
    }

    #[test]
    fn lines_and_bytes_have_limits() {
        let head =
            |lines: usize| [b"GET / HTTP/1.1\r\n".to_vec(), b"a: b\r\n".repeat(lines), b"\r\n".to_vec()].concat();
        assert!(matches!(Scanner::default().scan(&head(100), 100), Scan::Complete(_)));
        assert_eq!(Scanner::default().scan(&head(101), 100), Scan::TooLarge);
        assert_eq!(Scanner::default().scan(&vec![b'a'; MAX_HEAD_BYTES], 100), Scan::TooLarge);
    }
}
