//! Summary of a request's header lines. All checks use it, so that the lines are read only once.

use launcher_domain::identity::TrustedHeader;

use crate::http1::framing::{Framing, FramingError, FramingLines};
use crate::http1::header::{HeaderKind, elements};
use crate::http1::target::{self, TargetError};

/// Summary of the header lines of one request.
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
    /// Value of Accept-Language.
    pub(crate) accept_language: Option<&'h [u8]>,
    /// True if a browser loads the response into a frame (Sec-Fetch-Dest).
    is_for_frame: bool,
    /// True if a page of the workshop's own origin causes the request (Sec-Fetch-Site).
    is_same_origin: bool,
    is_from_another_site: bool,
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
            14 if name.eq_ignore_ascii_case(b"sec-fetch-dest") => self.is_for_frame = value == b"iframe",
            14 if name.eq_ignore_ascii_case(b"sec-fetch-site") => {
                self.is_same_origin = value == b"same-origin";
                self.is_from_another_site = !self.is_same_origin && value != b"none";
            }
            15 if name.eq_ignore_ascii_case(b"accept-language") => self.accept_language = Some(value),
            _ => self.has_alias |= is_alias_of_framing(name),
        }
    }

    /// Returns true if a page of another origin caused the request, as far as the browser says.
    pub(crate) fn is_from_another_site(&self) -> bool {
        self.is_from_another_site
    }

    /// Returns true if a page of the workshop's own origin loads the response into a frame. Only browsers set the two
    /// headers, and no script can.
    pub(crate) fn is_own_frame(&self) -> bool {
        self.is_for_frame && self.is_same_origin
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
            (1, Some(host)) => target::check_host(host),
            (0, _) if !is_http11 => Ok(()),
            _ => Err(TargetError::HostCount),
        }
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
