//! Parses the head of a request, and checks its target and Host header. They never select the upstream: the upstream is
//! always the app.

use launcher_domain::identity::TrustedHeader;
use launcher_domain::names::is_k8s_name;

use crate::http1::body::{Framing, FramingError, FramingLines};
use crate::http1::head::{HeaderKind, HeaderStorage, MAX_REQUEST_LINES, elements};

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

/// Summary of the header lines of one request. All checks use it, so that the lines are read only once.
#[derive(Debug, Default)]
pub(crate) struct HeaderSummary<'h> {
    framing: FramingLines<'h>,
    pub(crate) host: Option<&'h [u8]>,
    hosts: usize,
    pub(crate) origin: Option<&'h [u8]>,
    pub(crate) origins: usize,
    /// Value of X-Forwarded-Proto.
    pub(crate) proto: Option<&'h [u8]>,
    pub(crate) has_forwarded_host: bool,
    pub(crate) has_forwarded_proto: bool,
    upgrade: Option<&'h [u8]>,
    upgrades: usize,
    pub(crate) connection_close: bool,
    connection_upgrade: bool,
    /// True if a `Connection` header lists other header lines, which the sidecar must not forward.
    pub(crate) has_nominations: bool,
    has_alias: bool,
    /// True if the client accepts HTML.
    pub(crate) wants_html: bool,
    pub(crate) accept_language: Option<&'h [u8]>,
    /// True if a browser loads the response into a frame (Sec-Fetch-Dest).
    is_for_frame: bool,
    /// True if a browser loads the response into a tab (Sec-Fetch-Dest).
    is_for_tab: bool,
    /// True if a browser opens a page (Sec-Fetch-Mode).
    is_navigation: bool,
    /// True if a page of the workshop's own origin causes the request (Sec-Fetch-Site).
    is_same_origin: bool,
    /// True if a page of another origin caused the request, as far as the browser says.
    pub(crate) is_from_another_site: bool,
}

impl<'h> HeaderSummary<'h> {
    /// Writes the kind of each header line to `kinds`, and returns the summary of all lines.
    pub(crate) fn collect(trusted: &TrustedHeader, headers: &[httparse::Header<'h>], kinds: &mut [HeaderKind]) -> Self {
        let mut summary = Self::default();
        for (header, kind) in headers.iter().zip(kinds) {
            let name = header.name.as_bytes();
            *kind = if may_be_identity_header(trusted, name) && trusted.is_identity_header(name) {
                HeaderKind::Identity
            } else {
                HeaderKind::of(name)
            };
            summary.record(*kind, name, header.value);
        }
        summary
    }

    fn record(&mut self, kind: HeaderKind, name: &[u8], value: &'h [u8]) {
        match kind {
            HeaderKind::ContentLength | HeaderKind::TransferEncoding => self.framing.record(kind, value),
            HeaderKind::Host => {
                self.host = Some(value);
                self.hosts += 1;
            }
            HeaderKind::Origin => {
                self.origin = Some(value);
                self.origins += 1;
            }
            HeaderKind::Upgrade => {
                self.upgrade = Some(value);
                self.upgrades += 1;
            }
            HeaderKind::ForwardedHost => self.has_forwarded_host = true,
            HeaderKind::ForwardedProto => {
                self.has_forwarded_proto = true;
                self.proto = Some(value);
            }
            HeaderKind::Connection => self.record_connection(value),
            HeaderKind::Accept => self.wants_html |= memchr::memmem::find(value, b"text/html").is_some(),
            HeaderKind::Other => self.record_other(name, value),
            _ => {}
        }
    }

    fn record_other(&mut self, name: &[u8], value: &'h [u8]) {
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"sec-fetch-dest") => {
                self.is_for_frame = value == b"iframe";
                self.is_for_tab = value == b"document";
            }
            14 if name.eq_ignore_ascii_case(b"sec-fetch-mode") => self.is_navigation = value == b"navigate",
            14 if name.eq_ignore_ascii_case(b"sec-fetch-site") => {
                self.is_same_origin = value == b"same-origin";
                self.is_from_another_site = !self.is_same_origin && value != b"none";
            }
            15 if name.eq_ignore_ascii_case(b"accept-language") => self.accept_language = Some(value),
            _ => self.has_alias |= is_alias_of_framing(name),
        }
    }

    /// Returns true if a page of the workshop's own origin loads the response into a frame. Only browsers set the two
    /// headers, and no script can.
    pub(crate) fn is_own_frame(&self) -> bool {
        self.is_for_frame && self.is_same_origin
    }

    /// Returns true if a browser opens a page in a tab. The request for a download, as of a link with the attribute
    /// `download` in a frame, has another Sec-Fetch-Dest.
    pub(crate) fn opens_tab(&self) -> bool {
        self.is_for_tab && self.is_navigation && self.wants_html
    }

    fn record_connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            if option.eq_ignore_ascii_case(b"close") {
                self.connection_close = true;
            } else if option.eq_ignore_ascii_case(b"upgrade") {
                self.connection_upgrade = true;
            } else if !option.eq_ignore_ascii_case(b"keep-alive") {
                self.has_nominations = true;
            }
        }
    }

    /// Returns the framing of the request's body.
    ///
    /// # Errors
    /// Returns [`FramingError`] if the framing is ambiguous or not supported.
    pub(crate) fn read_framing(&self, is_http11: bool) -> Result<Framing, FramingError> {
        if self.has_alias {
            return Err(FramingError::Alias);
        }
        if !is_http11 && self.framing.has_encoding() {
            return Err(FramingError::Encoding);
        }
        Ok(self.framing.read()?.unwrap_or(Framing::Empty))
    }

    /// Returns true if the request has a Content-Length header.
    pub(crate) fn has_length(&self) -> bool {
        self.framing.has_length()
    }

    /// Checks that the request has exactly one valid Host header. Only HTTP/1.0 requests may omit it.
    ///
    /// # Errors
    /// Returns [`TargetError`] if the Host header is missing, repeated or invalid.
    pub(crate) fn check_host(&self, is_http11: bool) -> Result<(), TargetError> {
        match (self.hosts, self.host) {
            (1, Some(host)) => check_host(host),
            (0, _) if !is_http11 => Ok(()),
            _ => Err(TargetError::HostCount),
        }
    }

    /// Returns the first label of the host that the request names, in lower case. Returns `None` unless it has the form of a
    /// name of a workshop: the client chooses the host.
    pub(crate) fn workshop_label(&self) -> Option<Box<str>> {
        let host = self.host.filter(|_| self.hosts == 1)?;
        let label = host.split(|byte| matches!(byte, b'.' | b':')).next()?;
        let label = str::from_utf8(label).ok()?.to_ascii_lowercase();
        is_k8s_name(&label).then(|| label.into())
    }

    /// Returns true if the request asks for a WebSocket.
    pub(crate) fn asks_for_websocket(&self) -> bool {
        self.connection_upgrade
            && self.upgrades == 1
            && self.upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"))
    }
}

/// Fast check before the full check of a header name. Returns true if `name` may be an identity header: each spelling
/// of an identity header begins with the first letter of the trusted header's name, with `x`, or with a symbol.
fn may_be_identity_header(trusted: &TrustedHeader, name: &[u8]) -> bool {
    match name.first() {
        Some(first) if first.is_ascii_alphanumeric() => {
            let first = first.to_ascii_lowercase();
            first == b'x' || trusted.name().as_bytes().first() == Some(&first)
        }
        _ => true,
    }
}

/// Returns true if other programs may read this name as a framing header, for example `Content_Length`. Many programs
/// treat `_` or `.` like `-` when they turn header lines into variables.
fn is_alias_of_framing(name: &[u8]) -> bool {
    const FRAMING: [&[u8]; 2] = [b"content-length", b"transfer-encoding"];
    FRAMING.iter().any(|framing| {
        framing.len() == name.len()
            && framing.iter().zip(name).all(|(&wanted, &byte)| {
                if wanted == b'-' { !byte.is_ascii_alphanumeric() } else { byte.eq_ignore_ascii_case(&wanted) }
            })
    })
}

/// Error of a request whose target or Host header is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("the request's target is not a path")]
    Form,
    #[error("the request does not have exactly one Host")]
    HostCount,
    #[error("the request's Host is invalid")]
    Host,
    #[error("the request's target and its Host name different hosts")]
    OtherHost,
}

/// Returns the path and query for the app, in two parts to concatenate. The second part contains the bytes as received:
/// `target` itself, or the part after the host of an absolute target such as `http://host/path`. The first part is
/// empty, or the `/` or `*` that an absolute target without a path needs.
///
/// `host` is the value of the Host header, if the request has one.
///
/// # Errors
/// Returns [`TargetError`] if the target is invalid, or names another host than `host`.
pub(crate) fn target_path<'t>(
    target: &'t [u8],
    host: Option<&[u8]>,
    is_options: bool,
) -> Result<(&'static [u8], &'t [u8]), TargetError> {
    if target.contains(&b'#') {
        return Err(TargetError::Form);
    }
    if target.first() == Some(&b'/') || (target == b"*" && is_options) {
        return Ok((b"", target));
    }
    let scheme = if starts_with(target, b"http://") {
        b"http://".len()
    } else if starts_with(target, b"https://") {
        b"https://".len()
    } else {
        return Err(TargetError::Form);
    };
    let rest = &target[scheme..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if host.is_some_and(|host| !host.eq_ignore_ascii_case(authority)) {
        return Err(TargetError::OtherHost);
    }
    check_host(authority)?;
    if path.first() == Some(&b'/') {
        return Ok((b"", path));
    }
    Ok((if path.is_empty() && is_options { b"*" } else { b"/" }, path))
}

fn starts_with(target: &[u8], scheme: &[u8]) -> bool {
    target.split_at_checked(scheme.len()).is_some_and(|(start, _)| start.eq_ignore_ascii_case(scheme))
}

/// Checks that the value of a Host header contains only characters that a host and port may have.
///
/// # Errors
/// Returns [`TargetError::Host`] for an empty value or any other character.
pub(crate) fn check_host(host: &[u8]) -> Result<(), TargetError> {
    let readable = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+;=:[]".contains(byte);
    if host.is_empty() || !host.iter().all(readable) { Err(TargetError::Host) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(target: &str, host: &str, is_options: bool) -> Result<String, TargetError> {
        let (start, rest) = target_path(target.as_bytes(), Some(host.as_bytes()), is_options)?;
        Ok(String::from_utf8([start, rest].concat()).unwrap())
    }

    #[test]
    fn target_that_is_a_path_stays_unchanged() {
        for target in ["/", "//d", "/api/contents/a%2Fb;c//d?x=%00", "/a/../b", "/?http://x"] {
            assert_eq!(joined(target, "h", false).unwrap(), target);
        }
    }

    #[test]
    fn absolute_target_is_reduced_to_its_path_and_query() {
        assert_eq!(joined("http://H:80/a?b", "h:80", false).unwrap(), "/a?b");
        assert_eq!(joined("HTTPS://h", "h", false).unwrap(), "/");
        assert_eq!(joined("http://h?x", "h", false).unwrap(), "/?x");
        assert_eq!(joined("http://h", "h", true).unwrap(), "*");
        assert_eq!(joined("http://other/", "h", false), Err(TargetError::OtherHost));
        assert_eq!(joined("http://u@h/", "u@h", false), Err(TargetError::Host));
    }

    #[test]
    fn target_without_path_is_refused_except_asterisk_of_options() {
        for target in ["*", "h:443", "a", "ftp://h/", "/a#b"] {
            assert_eq!(joined(target, "h", false), Err(TargetError::Form), "{target}");
        }
        assert_eq!(joined("*", "h", true).unwrap(), "*");
    }
}
