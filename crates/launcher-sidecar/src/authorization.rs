//! Authorization of one request, based on its head alone.
//!
//! The order matters: a malformed head is refused before it is interpreted, and the caller's identity is checked before
//! anything else in the head.

use std::net::IpAddr;

use launcher_domain::identity::{IdentityError, TrustedHeader};

use crate::error_response::Reason;
use crate::framing::{Framing, FramingError, FramingLines};
use crate::head::{HeaderKind, HeaderStorage, MAX_REQUEST_LINES, elements};
use crate::origin;
use crate::rewrite::{self, Forward};
use crate::sidecar::Rules;
use crate::target::{self, TargetError};

/// A request that may be forwarded to the app; its new head is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admitted {
    pub(crate) framing: Framing,
    /// True for a HEAD request, whose response has no body.
    pub(crate) is_head: bool,
    /// True when the request may be retried after the reused connection to the app turns out to be dead.
    pub(crate) is_repeatable: bool,
    /// True for HTTP/1.1 clients, which understand chunks and interim responses.
    pub(crate) is_http11: bool,
    /// True when the client may send another request on this connection.
    pub(crate) keep_alive: bool,
    /// True when the request asks for a WebSocket.
    pub(crate) is_upgrade: bool,
    /// True when the client accepts HTML.
    pub(crate) wants_html: bool,
}

/// A request that is not forwarded to the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    pub(crate) is_head: bool,
    pub(crate) wants_html: bool,
    /// True when the connection stays usable: the request was understood, and has no unread body.
    pub(crate) keep_alive: bool,
}

impl Refused {
    /// Refuses a head that was not understood, and closes the connection.
    pub(crate) fn unread(reason: Reason) -> Self {
        Self { reason, is_head: false, wants_html: false, keep_alive: false }
    }
}

/// Summary of the header lines, collected before any decision.
#[derive(Debug, Default)]
pub(crate) struct HeaderSummary<'h> {
    pub(crate) framing: FramingLines<'h>,
    pub(crate) host: Option<&'h [u8]>,
    hosts: usize,
    origin: Option<&'h [u8]>,
    origins: usize,
    proto: Option<&'h [u8]>,
    pub(crate) has_forwarded_host: bool,
    pub(crate) has_forwarded_proto: bool,
    upgrade: Option<&'h [u8]>,
    upgrades: usize,
    connection_close: bool,
    connection_upgrade: bool,
    /// True when `Connection` names header lines to drop.
    pub(crate) has_nominations: bool,
    has_alias: bool,
    wants_html: bool,
}

/// Authorizes the request with the head `head`. Appends its new head to `out` when the request is admitted.
pub(crate) fn authorize(
    rules: &Rules,
    head: &[u8],
    peer: Option<IpAddr>,
    out: &mut Vec<u8>,
) -> Result<Admitted, Refused> {
    let mut storage: HeaderStorage<'_, MAX_REQUEST_LINES> =
        [const { std::mem::MaybeUninit::uninit() }; MAX_REQUEST_LINES];
    let mut parsed = httparse::Request::new(&mut []);
    match parsed.parse_with_uninit_headers(head, &mut storage) {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::Version) if names_other_version(head) => return Err(Refused::unread(Reason::Version)),
        Err(httparse::Error::TooManyHeaders) => return Err(Refused::unread(Reason::HeadTooLarge)),
        _ => return Err(Refused::unread(Reason::Malformed("the request's head is malformed"))),
    }
    let (Some(method), Some(target), Some(version)) = (parsed.method, parsed.path, parsed.version) else {
        return Err(Refused::unread(Reason::Malformed("the request's head is malformed")));
    };
    let mut kinds = [HeaderKind::Other; MAX_REQUEST_LINES];
    let summary = HeaderSummary::collect(&rules.policy.trusted_header, parsed.headers, &mut kinds);
    let framing = summary.read_framing(version == 1);
    let is_head = method == "HEAD";
    let refuse = |reason: Reason| Refused {
        reason,
        is_head,
        wants_html: summary.wants_html,
        keep_alive: version == 1
            && !summary.connection_close
            && framing == Ok(Framing::Empty)
            && reason.is_understood(),
    };
    check_owner(rules, parsed.headers).map_err(refuse)?;
    let framing = framing.map_err(refuse)?;
    if ["CONNECT", "TRACE", "TRACK"].iter().any(|refused| refused.eq_ignore_ascii_case(method)) {
        return Err(refuse(Reason::Method));
    }
    summary.check_host(version == 1).map_err(|error| refuse(Reason::Target(error)))?;
    let path = target::path(target.as_bytes(), summary.host, method == "OPTIONS")
        .map_err(|error| refuse(Reason::Target(error)))?;
    let is_upgrade = method == "GET" && version == 1 && summary.asks_for_websocket();
    if is_upgrade {
        if framing != Framing::Empty {
            return Err(refuse(Reason::Malformed("a request for a WebSocket has no body")));
        }
        if !summary.has_allowed_origin() {
            return Err(refuse(Reason::ForeignOrigin));
        }
    }
    let forward = Forward { method, path, is_http11: version == 1, is_upgrade, framing, summary: &summary, peer };
    rewrite::request(rules, &forward, parsed.headers, &kinds, out);
    Ok(Admitted {
        framing,
        is_head,
        is_repeatable: framing == Framing::Empty && matches!(method, "GET" | "HEAD" | "OPTIONS"),
        is_http11: version == 1,
        keep_alive: version == 1 && !summary.connection_close,
        is_upgrade,
        wants_html: summary.wants_html,
    })
}

/// Returns true when the request line is well-formed but names an unsupported version of HTTP.
fn names_other_version(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ').skip(2);
    matches!((words.next(), words.next()), (Some([b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9']), None))
}

fn check_owner(rules: &Rules, headers: &[httparse::Header<'_>]) -> Result<(), Reason> {
    let lines = headers.iter().map(|header| (header.name.as_bytes(), header.value));
    let policy = &rules.policy;
    let error = match policy.trusted_header.read_verified(policy.proxy_secret.as_ref(), lines) {
        Ok(identity) if identity == policy.owner => return Ok(()),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let reports_as_unproven = error == Some(IdentityError::Unproven) && rules.count_unproven();
    if !policy.require_authentication {
        rules.report_mismatch(error);
        return Ok(());
    }
    if reports_as_unproven {
        tracing::warn!(
            "refusing a request: X-Auth-Request-Proof is missing or wrong. Either the request bypassed the auth proxy, \
             or the auth proxy sends a secret that SERVICE_PROXY_SECRET_FILE does not contain"
        );
    }
    tracing::debug!(reason = error.map(tracing::field::display), "refusing a request that is not the owner's");
    Err(match error {
        Some(IdentityError::Missing) => Reason::NoIdentity,
        _ => Reason::NotTheOwner,
    })
}

impl<'h> HeaderSummary<'h> {
    fn collect(trusted: &TrustedHeader, headers: &[httparse::Header<'h>], kinds: &mut [HeaderKind]) -> Self {
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
            HeaderKind::Other => self.has_alias |= is_alias_of_framing(name),
            _ => {}
        }
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

    fn read_framing(&self, is_http11: bool) -> Result<Framing, Reason> {
        if self.has_alias {
            return Err(Reason::Malformed("a header line that says how the message is read has a second spelling"));
        }
        if !is_http11 && self.framing.has_encoding() {
            return Err(Reason::Framing(FramingError::Encoding));
        }
        Ok(self.framing.read().map_err(Reason::Framing)?.unwrap_or(Framing::Empty))
    }

    fn check_host(&self, is_http11: bool) -> Result<(), TargetError> {
        match (self.hosts, self.host) {
            (1, Some(host)) => target::check_host(host),
            (0, _) if !is_http11 => Ok(()),
            _ => Err(TargetError::HostCount),
        }
    }

    fn asks_for_websocket(&self) -> bool {
        self.connection_upgrade
            && self.upgrades == 1
            && self.upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"))
    }

    /// Returns true for the workshop's own origin, or without an Origin. Clients other than browsers send none, and no
    /// page can make a browser omit it.
    fn has_allowed_origin(&self) -> bool {
        match (self.origins, self.origin, self.host) {
            (0, _, _) => true,
            (1, Some(origin), Some(host)) => origin::is_same_origin(origin, host, self.proto),
            _ => false,
        }
    }
}

/// Rejects most names quickly. Spellings of an identity header differ only between its letters. The first letter is
/// therefore that of the trusted name, or the `x` of all the others.
fn may_be_identity_header(trusted: &TrustedHeader, name: &[u8]) -> bool {
    match name.first() {
        Some(first) if first.is_ascii_alphanumeric() => {
            let first = first.to_ascii_lowercase();
            first == b'x' || trusted.name().as_bytes().first() == Some(&first)
        }
        _ => true,
    }
}

/// Returns true when a program that reads `_` or `.` as `-` would take this name for a framing header. Many programs do
/// so when they turn header lines into variables.
fn is_alias_of_framing(name: &[u8]) -> bool {
    const FRAMING: [&[u8]; 2] = [b"content-length", b"transfer-encoding"];
    FRAMING.iter().any(|framing| {
        framing.len() == name.len()
            && framing.iter().zip(name).all(|(&wanted, &byte)| {
                if wanted == b'-' { !byte.is_ascii_alphanumeric() } else { byte.eq_ignore_ascii_case(&wanted) }
            })
    })
}

#[cfg(test)]
mod tests;
