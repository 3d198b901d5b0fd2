//! Parses the head of a request.

use launcher_domain::identity::TrustedHeader;

use crate::http1::head::MAX_REQUEST_LINES;
use crate::http1::header::{HeaderKind, HeaderStorage};
use crate::http1::summary::HeaderSummary;

/// A parsed request head, which is not authorized yet.
#[derive(Debug)]
pub(crate) struct RequestHead<'f, 'h> {
    pub(crate) method: &'h str,
    pub(crate) target: &'h [u8],
    /// True for HTTP/1.1, false for HTTP/1.0.
    pub(crate) is_http11: bool,
    pub(crate) headers: &'f [httparse::Header<'h>],
    /// The kinds of `headers`, in the same order.
    pub(crate) kinds: &'f [HeaderKind],
    pub(crate) summary: HeaderSummary<'h>,
}

/// Error of a head that the sidecar cannot parse or does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadError {
    Malformed,
    TooManyLines,
    /// The request line is well-formed, but its HTTP version is not supported.
    Version,
}

impl<'f, 'h> RequestHead<'f, 'h> {
    /// Parses a complete head. Writes the header lines to `storage`, and their kinds to `kinds`.
    ///
    /// # Errors
    /// Returns [`HeadError`] if the head is invalid or not supported.
    pub(crate) fn parse(
        head: &'h [u8],
        trusted: &TrustedHeader,
        storage: &'f mut HeaderStorage<'h, MAX_REQUEST_LINES>,
        kinds: &'f mut [HeaderKind; MAX_REQUEST_LINES],
    ) -> Result<Self, HeadError> {
        let mut parsed = httparse::Request::new(&mut []);
        match parsed.parse_with_uninit_headers(head, storage) {
            Ok(httparse::Status::Complete(length)) if length == head.len() => {}
            Err(httparse::Error::Version) if names_other_version(head) => return Err(HeadError::Version),
            Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooManyLines),
            _ => return Err(HeadError::Malformed),
        }
        let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(HeadError::Malformed);
        };
        let headers: &'f [httparse::Header<'h>] = parsed.headers;
        let summary = HeaderSummary::collect(trusted, headers, kinds);
        Ok(Self { method, target: target.as_bytes(), is_http11: version == 1, headers, kinds, summary })
    }
}

/// Returns true if the request line is well-formed except for its HTTP version, which the sidecar does not support.
fn names_other_version(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ').skip(2);
    matches!((words.next(), words.next()), (Some([b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9']), None))
}
