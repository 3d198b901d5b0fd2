//! Finds the end of a request head or response head, and enforces the limits on its size.

use crate::http1::header::is_token;

/// Maximum bytes of a head, including its final empty line.
pub(crate) const MAX_HEAD_BYTES: usize = crate::memory::HEAD;
/// Maximum header lines of a request.
pub(crate) const MAX_REQUEST_LINES: usize = 100;
/// Maximum header lines of an app's response. Responses need more lines than requests: each cookie has a separate line.
pub(crate) const MAX_RESPONSE_LINES: usize = 200;

/// Result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The final empty line has not arrived yet.
    Incomplete,
    /// The head is this many bytes long.
    Complete(usize),
    /// The head has more bytes or more lines than allowed.
    TooLarge,
    /// The first byte cannot begin an HTTP/1 head, or a line does not end in CR LF.
    Malformed,
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
            // Do not count the first line: it is the request line or status line, and no header line.
            if self.lines > max_lines + 1 {
                return Scan::TooLarge;
            }
        }
        self.scanned = bytes.len();
        if bytes.len() >= MAX_HEAD_BYTES { Scan::TooLarge } else { Scan::Incomplete }
    }
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
        for bytes in [&b"GET / HTTP/1.1\nHost: a\r\n\r\n"[..], b"\n", b"\x16\x03\x01", b" GET /"] {
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
