//! Parses the head of the app's response, and writes the head that the client receives.
//!
//! The frame page shows the app in a frame of the same origin. If the app forbids every frame, the sidecar permits frames of
//! the same origin for this use.

use crate::auth::Rules;
use crate::auth::authorization::Admitted;
use crate::http1::body::{BodyTranscoder, Framing, FramingError, FramingLines};
use crate::http1::head::{
    HeaderKind, HeaderStorage, MAX_RESPONSE_LINES, elements, is_nominated, put_framing, put_length, put_line,
};
use crate::refusal::ResponseError;

/// Type of a response, as its head defines it.
#[derive(Debug)]
pub(crate) enum Reply {
    /// An interim response. The app sends another response after it.
    Interim,
    /// The app accepts the WebSocket.
    Upgraded,
    /// The final response.
    Final {
        body: BodyTranscoder,
        /// True if the app accepts another request on its connection.
        app_keep_alive: bool,
        /// True if the client's connection is closed after this response.
        close: bool,
    },
}

/// Headers that distinguish the request of the frame. A browser must not use a cached response for the frame in a tab, because
/// the sidecar leads a tab to the frame page, and the reverse, because the frame may need other headers.
const FRAME_REQUEST: &[u8] = b"Sec-Fetch-Dest, Sec-Fetch-Site";

struct Status {
    code: u16,
    is_http11: bool,
}

/// Parses the response head `head`, and appends the client's head to `out`. If `close` is true, the client's connection
/// is closed after this response.
///
/// # Errors
/// Returns [`ResponseError`] if the response is invalid. `out` stays unchanged then.
pub(crate) fn translate(
    rules: &Rules,
    request: &Admitted,
    close: bool,
    head: &[u8],
    out: &mut Vec<u8>,
) -> Result<Reply, ResponseError> {
    let mut storage: HeaderStorage<'_, MAX_RESPONSE_LINES> =
        [const { std::mem::MaybeUninit::uninit() }; MAX_RESPONSE_LINES];
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut parsed, head, &mut storage) {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Ok(_) => return Err(ResponseError::Incomplete),
        Err(error) => return Err(error.into()),
    }
    let status = Status { code: parsed.code.unwrap_or(0), is_http11: parsed.version == Some(1) };
    let headers: &[httparse::Header<'_>] = parsed.headers;
    let mut kinds = [HeaderKind::Other; MAX_RESPONSE_LINES];
    let (mut framing, mut app_keep_alive, mut has_nominations) = (FramingLines::default(), status.is_http11, false);
    let mut switches_to_websocket = false;
    for (header, kind) in headers.iter().zip(&mut kinds) {
        *kind = HeaderKind::of(header.name.as_bytes());
        framing.record(*kind, header.value);
        switches_to_websocket |= *kind == HeaderKind::Upgrade && header.value.eq_ignore_ascii_case(b"websocket");
        if *kind == HeaderKind::Connection {
            has_nominations = true;
            for option in elements(header.value) {
                app_keep_alive &= !option.eq_ignore_ascii_case(b"close");
            }
        }
    }
    let reply = decide(&status, request, close, &framing, app_keep_alive, switches_to_websocket)?;
    if matches!(reply, Reply::Interim) && !request.is_http11 {
        return Ok(reply);
    }
    put_status(status.code, parsed.reason.unwrap_or(""), out);
    if request.is_own_frame {
        put_line(out, b"Vary", FRAME_REQUEST);
    }
    for (header, &kind) in headers.iter().zip(&kinds) {
        let name = header.name.as_bytes();
        match kind {
            HeaderKind::Connection
            | HeaderKind::ContentLength
            | HeaderKind::TransferEncoding
            | HeaderKind::Upgrade
            | HeaderKind::HopByHop => {}
            HeaderKind::SetCookie if rules.login_cookies.is_login_cookie(header.value) => {}
            HeaderKind::Other if has_nominations && is_nominated(name, headers, &kinds) => {}
            HeaderKind::Other if matches!(status.code, 201 | 300..400) && name.eq_ignore_ascii_case(b"location") => {
                put_location(name, header.value, rules.app_port, request.https_host.as_deref(), out);
            }
            HeaderKind::Other if forbids_every_frame(name, header.value) => {
                if !request.is_own_frame {
                    put_line(out, b"Vary", FRAME_REQUEST);
                }
                if !request.is_own_frame || !put_permitting_own_frames(name, header.value, out) {
                    put_line(out, name, header.value);
                }
            }
            _ => put_line(out, name, header.value),
        }
    }
    put_end(&status, request, &reply, &framing, out)?;
    Ok(reply)
}

fn decide(
    status: &Status,
    request: &Admitted,
    close: bool,
    framing: &FramingLines<'_>,
    app_keep_alive: bool,
    switches_to_websocket: bool,
) -> Result<Reply, ResponseError> {
    match status.code {
        101 if request.is_upgrade && switches_to_websocket => return Ok(Reply::Upgraded),
        101 | ..100 => return Err(ResponseError::Switch),
        102..200 | 100 => return Ok(Reply::Interim),
        _ => {}
    }
    if framing.has_encoding() && !status.is_http11 {
        return Err(FramingError::Encoding.into());
    }
    let read = framing.read()?;
    if has_no_body(status, request) {
        let close = close || !request.form.keep_alive;
        return Ok(Reply::Final { body: BodyTranscoder::with_same_framing(Framing::Empty), app_keep_alive, close });
    }
    let (body, app_keep_alive, must_close) = match read {
        Some(Framing::Chunked) if !request.is_http11 => (BodyTranscoder::decoding_chunks(), app_keep_alive, true),
        Some(framing) => (BodyTranscoder::with_same_framing(framing), app_keep_alive, false),
        None => (BodyTranscoder::until_close(request.is_http11), false, !request.is_http11),
    };
    Ok(Reply::Final { body, app_keep_alive, close: close || must_close || !request.form.keep_alive })
}

fn has_no_body(status: &Status, request: &Admitted) -> bool {
    request.form.is_head || matches!(status.code, 204 | 304)
}

fn put_status(code: u16, reason: &str, out: &mut Vec<u8>) {
    let digits = [code / 100 % 10, code / 10 % 10, code % 10].map(|digit| b'0' + u8::try_from(digit).unwrap_or(0));
    for part in [b"HTTP/1.1 ", &digits[..], b" ", reason.as_bytes(), b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// Appends the header lines about framing and connection, and the empty line that ends the head.
fn put_end(
    status: &Status,
    request: &Admitted,
    reply: &Reply,
    framing: &FramingLines<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ResponseError> {
    match reply {
        Reply::Interim => {}
        Reply::Upgraded => out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        Reply::Final { close, .. } => {
            match framing.read()? {
                // Keep Content-Length also in a response to HEAD and in a 304: it is the body length of the response to
                // GET. Drop it in a 204, which must not have it.
                Some(Framing::Length(length)) if status.code != 204 => put_length(length, out),
                Some(Framing::Empty) if status.code != 204 => put_length(0, out),
                _ if has_no_body(status, request) || !request.is_http11 => {}
                _ => put_framing(Framing::Chunked, out),
            }
            if *close {
                out.extend_from_slice(b"Connection: close\r\n");
            }
        }
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends the header line with the target of a redirect. A target at the address on which the app listens becomes a path of
/// the workshop, because the browser cannot reach that address. `https_host` is the host of the workshop if the client used
/// HTTPS: then a target with `http://` on this host becomes a path as well, so that the browser stays with HTTPS. Every other
/// target stays unchanged.
fn put_location(name: &[u8], target: &[u8], app_port: u16, https_host: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(path) = own_path(target, app_port, https_host) else { return put_line(out, name, target) };
    out.extend_from_slice(name);
    out.extend_from_slice(if path.starts_with(b"/") { b": " } else { b": /" });
    out.extend_from_slice(path);
    out.extend_from_slice(b"\r\n");
}

/// Returns the part of a redirect's target after scheme and host, if the target belongs to the app.
fn own_path<'t>(target: &'t [u8], app_port: u16, https_host: Option<&[u8]>) -> Option<&'t [u8]> {
    let rest = target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case(b"http://")).map(|_| &target[7..])?;
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // A browser reads `//host` and `/\host` as another site.
    if path.get(1).is_some_and(|second| b"/\\".contains(second)) {
        return None;
    }
    let port = format!(":{app_port}");
    let host = authority.strip_suffix(port.as_bytes());
    let is_app = host.is_some_and(|host| host == b"127.0.0.1" || host.eq_ignore_ascii_case(b"localhost"));
    (is_app || https_host.is_some_and(|own| own.eq_ignore_ascii_case(authority))).then_some(path)
}

/// Appends the header line if it forbids every frame, changed so that it permits frames of the same origin. Returns
/// false, and appends nothing, for any other line.
fn put_permitting_own_frames(name: &[u8], value: &[u8], out: &mut Vec<u8>) -> bool {
    if !forbids_every_frame(name, value) {
        return false;
    }
    if name.eq_ignore_ascii_case(b"x-frame-options") {
        put_line(out, name, b"SAMEORIGIN");
    } else {
        put_line(out, name, &permit_own_frames(value));
    }
    true
}

/// True for a header of the app that forbids every frame.
fn forbids_every_frame(name: &[u8], value: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b"x-frame-options") {
        return value.trim_ascii().eq_ignore_ascii_case(b"deny");
    }
    name.eq_ignore_ascii_case(b"content-security-policy") && value.split(is_separator).any(forbids_frames)
}

/// True for the byte between two directives of a policy, and between two policies.
fn is_separator(byte: &u8) -> bool {
    matches!(byte, b';' | b',')
}

/// True for the directive `frame-ancestors 'none'`.
fn forbids_frames(directive: &[u8]) -> bool {
    let mut words = directive.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is = |word: Option<&[u8]>, expected: &[u8]| word.is_some_and(|word| word.eq_ignore_ascii_case(expected));
    is(words.next(), b"frame-ancestors") && is(words.next(), b"'none'") && words.next().is_none()
}

fn permit_own_frames(policy: &[u8]) -> Vec<u8> {
    let mut permitted = Vec::with_capacity(policy.len());
    for directive in policy.split_inclusive(is_separator) {
        let bare = directive.strip_suffix(b";").or_else(|| directive.strip_suffix(b",")).unwrap_or(directive);
        if forbids_frames(bare) {
            permitted.extend_from_slice(b" frame-ancestors 'self'");
            permitted.extend_from_slice(&directive[bare.len()..]);
        } else {
            permitted.extend_from_slice(directive);
        }
    }
    permitted.trim_ascii_start().to_vec()
}

#[cfg(test)]
mod tests {
    use launcher_domain::EmailAddress;

    use super::*;
    use crate::auth::Policy;
    use crate::exchange::admission::admit;
    use crate::exchange::state::SharedState;
    use crate::frame::Frame;

    #[test]
    fn redirect_to_the_address_of_the_app_or_to_own_host_without_tls_becomes_a_path() {
        let tls = Some(&b"w.example:8443"[..]);
        for (target, https_host, expected) in [
            ("http://127.0.0.1:5000/login?next=%2Fa#b", None, "/login?next=%2Fa#b"),
            ("HTTP://LocalHost:5000/", None, "/"),
            ("http://localhost:5000", None, "/"),
            ("http://localhost:5000?a=b", None, "/?a=b"),
            ("http://w.example:8443/a", tls, "/a"),
            ("http://W.example:8443", tls, "/"),
        ] {
            assert_eq!(location(target, https_host), format!("Location: {expected}\r\n"), "{target}");
        }
        for (target, https_host) in [
            ("/login", tls),
            ("https://w.example:8443/a", tls),
            ("http://w.example:8443/a", None),
            ("http://w.example/a", tls),
            ("http://w.example:8443@evil.example/a", tls),
            ("http://evil.example/a", tls),
            ("https://127.0.0.1:5000/a", tls),
            ("http://127.0.0.1:5001/a", tls),
            ("http://127.0.0.1/a", tls),
            ("http://127.0.0.1:5000//evil.example/a", tls),
            ("http://127.0.0.1:5000/\\evil.example/a", tls),
            ("http://127.0.0.1:5000@evil.example/", tls),
            ("http://", tls),
            ("", tls),
        ] {
            assert_eq!(location(target, https_host), format!("Location: {target}\r\n"), "{target}");
        }
    }

    fn location(target: &str, https_host: Option<&[u8]>) -> String {
        let mut out = Vec::new();
        put_location(b"Location", target.as_bytes(), 5000, https_host, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn changed(name: &str, value: &str) -> Option<String> {
        let mut out = Vec::new();
        let is_changed = put_permitting_own_frames(name.as_bytes(), value.as_bytes(), &mut out);
        is_changed.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn header_that_forbids_every_frame_permits_own_frames() {
        for (name, value, expected) in [
            ("X-Frame-Options", "DENY", "X-Frame-Options: SAMEORIGIN\r\n"),
            ("x-frame-options", " deny ", "x-frame-options: SAMEORIGIN\r\n"),
            (
                "Content-Security-Policy",
                "frame-ancestors 'none'",
                "Content-Security-Policy: frame-ancestors 'self'\r\n",
            ),
            (
                "content-security-policy",
                "default-src 'self'; FRAME-ancestors  'NONE' ; img-src *",
                "content-security-policy: default-src 'self'; frame-ancestors 'self'; img-src *\r\n",
            ),
            (
                "content-security-policy",
                "img-src *, frame-ancestors 'none', frame-ancestors https://a.example",
                "content-security-policy: img-src *, frame-ancestors 'self', frame-ancestors https://a.example\r\n",
            ),
        ] {
            assert_eq!(changed(name, value).as_deref(), Some(expected), "{name}: {value}");
        }
    }

    #[test]
    fn other_headers_stay_unchanged() {
        for (name, value) in [
            ("X-Frame-Options", "SAMEORIGIN"),
            ("X-Frame-Options", "ALLOW-FROM https://a.example"),
            ("Content-Security-Policy", "frame-ancestors 'self'"),
            ("Content-Security-Policy", "frame-ancestors https://a.example"),
            ("Content-Security-Policy", "frame-src 'none'"),
            ("Content-Security-Policy-Report-Only", "frame-ancestors 'none'"),
            ("X-Other", "frame-ancestors 'none'"),
        ] {
            assert_eq!(changed(name, value), None, "{name}: {value}");
        }
    }

    #[test]
    fn any_response_of_an_app_has_one_head_for_the_client_or_is_refused() {
        let owner = Some(EmailAddress::parse("alice@example.org").unwrap());
        let policy = Policy { owner, ..Policy::without_owner() };
        let state = SharedState::new(policy, ([127, 0, 0, 1], 9).into(), Frame::default());
        let request = b"GET / HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n\r\n";
        let admitted = admit(&state.rules, request, None, &mut Vec::new()).unwrap();
        let name = "any_response_of_an_app_has_one_head_for_the_client_or_is_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 500_000, |bytes| {
            let mut out = Vec::new();
            let replied = translate(&state.rules, &admitted, false, bytes, &mut out);
            let mut lines = [httparse::EMPTY_HEADER; 2 * MAX_RESPONSE_LINES];
            let mut read = httparse::Response::new(&mut lines);
            match (replied, read.parse(&out)) {
                (Err(_), _) => assert_eq!(out, b""),
                (Ok(_), Ok(httparse::Status::Complete(length))) => assert_eq!(length, out.len()),
                (Ok(reply), read) => unreachable!("{reply:?}: {read:?}"),
            }
            let framing = ["content-length", "transfer-encoding"];
            let is_framing =
                |line: &&httparse::Header<'_>| framing.iter().any(|name| line.name.eq_ignore_ascii_case(name));
            assert!(read.headers.iter().filter(is_framing).count() <= 1, "{:?}", read.headers);
        });
    }
}
