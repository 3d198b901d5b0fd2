//! Writes the request head that the app receives.

use std::net::IpAddr;

use crate::auth::authorization::Authorized;
use crate::auth::rules::Rules;
use crate::http1::framing::Framing;
use crate::http1::header::HeaderKind;
use crate::http1::lines::{is_nominated, put, put_framing, put_length};
use crate::http1::request_head::RequestHead;

/// Appends the head that the app receives to `out`. The new head has `peer` at the end of X-Forwarded-For.
pub(crate) fn write(
    rules: &Rules,
    request: &RequestHead<'_, '_>,
    authorized: &Authorized<'_>,
    peer: Option<IpAddr>,
    out: &mut Vec<u8>,
) {
    let RequestHead { headers, kinds, summary, .. } = request;
    let Authorized { admitted, path } = authorized;
    let length: usize = headers.iter().map(|header| header.name.len() + header.value.len() + 4).sum();
    out.reserve(length + path.1.len() + 160);
    for part in [request.method.as_bytes(), b" ", path.0, path.1, b" HTTP/1.1\r\n"] {
        out.extend_from_slice(part);
    }
    if summary.host.is_none() {
        put(out, b"Host", rules.app_name.as_bytes());
    }
    for (header, &kind) in headers.iter().zip(*kinds) {
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
            // Drop Expect of an HTTP/1.0 client: the client does not understand the response 100 (Continue).
            HeaderKind::Expect if !request.is_http11 => {}
            HeaderKind::Other | HeaderKind::SetCookie
                if summary.has_nominations && is_nominated(name, headers, kinds) => {}
            _ => put(out, name, header.value),
        }
    }
    put_forwarded(request, peer, out);
    put_framing(admitted.framing, out);
    if admitted.framing == Framing::Empty && summary.has_length() {
        put_length(0, out);
    }
    if admitted.is_upgrade {
        out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
    }
    out.extend_from_slice(b"\r\n");
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

fn put_forwarded(request: &RequestHead<'_, '_>, peer: Option<IpAddr>, out: &mut Vec<u8>) {
    let RequestHead { headers, kinds, summary, .. } = request;
    let mut separator: &[u8] = b"X-Forwarded-For: ";
    let earlier = headers.iter().zip(*kinds).filter(|(_, kind)| **kind == HeaderKind::ForwardedFor);
    for (header, _) in earlier.filter(|(header, _)| !header.value.is_empty()) {
        out.extend_from_slice(separator);
        out.extend_from_slice(header.value);
        separator = b", ";
    }
    if let Some(peer) = peer {
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
