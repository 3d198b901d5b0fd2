//! Writes the request's head for the app.

use std::net::IpAddr;

use crate::authorization::HeaderSummary;
use crate::framing::Framing;
use crate::head::{HeaderKind, elements};
use crate::sidecar::Rules;

/// Decisions about a request that is forwarded to the app.
pub(crate) struct Forward<'f, 'h> {
    pub(crate) method: &'f str,
    /// Path and query, in two parts.
    pub(crate) path: (&'static [u8], &'f [u8]),
    pub(crate) is_http11: bool,
    pub(crate) is_upgrade: bool,
    pub(crate) framing: Framing,
    pub(crate) summary: &'f HeaderSummary<'h>,
    pub(crate) peer: Option<IpAddr>,
}

/// Appends the request's new head to `out`.
pub(crate) fn request(
    rules: &Rules,
    forward: &Forward<'_, '_>,
    headers: &[httparse::Header<'_>],
    kinds: &[HeaderKind],
    out: &mut Vec<u8>,
) {
    let length: usize = headers.iter().map(|header| header.name.len() + header.value.len() + 4).sum();
    out.reserve(length + forward.path.1.len() + 160);
    for part in [forward.method.as_bytes(), b" ", forward.path.0, forward.path.1, b" HTTP/1.1\r\n"] {
        out.extend_from_slice(part);
    }
    if forward.summary.host.is_none() {
        put(out, b"Host", rules.app_name.as_bytes());
    }
    for (header, &kind) in headers.iter().zip(kinds) {
        let name = header.name.as_bytes();
        match kind {
            HeaderKind::Connection
            | HeaderKind::ContentLength
            | HeaderKind::TransferEncoding
            | HeaderKind::Upgrade
            | HeaderKind::HopByHop
            | HeaderKind::Identity
            | HeaderKind::ForwardedFor => {}
            HeaderKind::Cookie => put_cookies(rules, out, name, header.value),
            // An HTTP/1.0 client does not understand 100 (Continue).
            HeaderKind::Expect if !forward.is_http11 => {}
            HeaderKind::Other | HeaderKind::SetCookie
                if forward.summary.has_nominations && is_nominated(name, headers, kinds) => {}
            _ => put(out, name, header.value),
        }
    }
    put_forwarded(forward, headers, kinds, out);
    put_framing(forward.framing, out);
    if forward.framing == Framing::Empty && forward.summary.framing.has_length() {
        put_length(0, out);
    }
    if forward.is_upgrade {
        out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends one header line.
pub(crate) fn put(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends the framing header line of a message that has a body.
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

/// Returns true when a `Connection` line nominates this header line as hop-by-hop.
pub(crate) fn is_nominated(name: &[u8], headers: &[httparse::Header<'_>], kinds: &[HeaderKind]) -> bool {
    let connections = headers.iter().zip(kinds).filter(|(_, kind)| **kind == HeaderKind::Connection);
    connections.flat_map(|(header, _)| elements(header.value)).any(|option| option.eq_ignore_ascii_case(name))
}

fn put_cookies(rules: &Rules, out: &mut Vec<u8>, name: &[u8], line: &[u8]) {
    if !rules.login_cookies.are_in(line) {
        put(out, name, line);
        return;
    }
    for (index, cookie) in rules.login_cookies.others(line).enumerate() {
        out.extend_from_slice(if index == 0 { name } else { b"" });
        out.extend_from_slice(if index == 0 { b": " } else { b"; " });
        out.extend_from_slice(cookie);
    }
    if rules.login_cookies.others(line).next().is_some() {
        out.extend_from_slice(b"\r\n");
    }
}

fn put_address(address: IpAddr, out: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => {
            for (index, octet) in address.octets().into_iter().enumerate() {
                out.extend_from_slice(if index == 0 { b"" } else { b"." });
                out.extend_from_slice(itoa::Buffer::new().format(octet).as_bytes());
            }
        }
        IpAddr::V6(_) => out.extend_from_slice(address.to_string().as_bytes()),
    }
}

fn put_forwarded(forward: &Forward<'_, '_>, headers: &[httparse::Header<'_>], kinds: &[HeaderKind], out: &mut Vec<u8>) {
    let summary = forward.summary;
    let mut separator: &[u8] = b"X-Forwarded-For: ";
    let earlier = headers.iter().zip(kinds).filter(|(_, kind)| **kind == HeaderKind::ForwardedFor);
    for (header, _) in earlier.filter(|(header, _)| !header.value.is_empty()) {
        out.extend_from_slice(separator);
        out.extend_from_slice(header.value);
        separator = b", ";
    }
    if let Some(peer) = forward.peer {
        out.extend_from_slice(separator);
        put_address(peer, out);
        separator = b", ";
    }
    if separator == b", " {
        out.extend_from_slice(b"\r\n");
    }
    if !summary.has_forwarded_proto {
        put(out, b"X-Forwarded-Proto", b"http");
    }
    if let (false, Some(host)) = (summary.has_forwarded_host, summary.host) {
        put(out, b"X-Forwarded-Host", host);
    }
}
