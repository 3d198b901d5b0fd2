//! Admission of one request: parses its head, authorizes it, and writes the head for the app.

use std::mem::MaybeUninit;
use std::net::IpAddr;

use crate::auth::Rules;
use crate::auth::authorization::{Admitted, Authorized, authorize};
use crate::http1::body::Framing;
use crate::http1::head::{
    HeaderKind, HeaderStorage, MAX_REQUEST_LINES, is_nominated, put_framing, put_length, put_line,
};
use crate::http1::request::RequestHead;
use crate::refusal::{Reason, Refused};

/// Decides whether to admit the request with the head `head`. Appends the head for the app to `out` only if the request
/// is admitted. The new head has `peer` at the end of X-Forwarded-For.
pub(crate) fn admit(rules: &Rules, head: &[u8], peer: Option<IpAddr>, out: &mut Vec<u8>) -> Result<Admitted, Refused> {
    let mut storage: HeaderStorage<'_, MAX_REQUEST_LINES> = [const { MaybeUninit::uninit() }; MAX_REQUEST_LINES];
    let mut kinds = [HeaderKind::Other; MAX_REQUEST_LINES];
    let request = RequestHead::parse(head, &rules.policy.trusted_header, &mut storage, &mut kinds)
        .map_err(|error| Refused::unread(Reason::from(error)))?;
    let authorized = authorize(rules, &request)?;
    write_request_head(rules, &request, &authorized, peer, out);
    Ok(authorized.admitted)
}

/// Appends the head that the app receives to `out`. The new head has `peer` at the end of X-Forwarded-For.
fn write_request_head(
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
        put_line(out, b"Host", rules.app_name.as_bytes());
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
            _ => put_line(out, name, header.value),
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
        put_line(out, name, line);
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
        put_line(out, b"X-Forwarded-Proto", b"http");
    }
    if let (false, Some(host)) = (summary.has_forwarded_host, summary.host) {
        put_line(out, b"X-Forwarded-Host", host);
    }
}

#[cfg(test)]
mod tests {
    //! Property tests against request smuggling: for arbitrary bytes, another parser must read the forwarded requests
    //! exactly like the received requests.

    use launcher_domain::EmailAddress;
    use launcher_domain::identity::TrustedHeader;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::auth::Policy;
    use crate::exchange::state::SharedState;
    use crate::frame::Frame;
    use crate::http1::body::BodyTranscoder;
    use crate::http1::head::{Scan, Scanner};

    /// A request as the independent parser of this test reads it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Read {
        method: String,
        target: String,
        version: u8,
        lines: Vec<(String, Vec<u8>)>,
        body: Vec<u8>,
    }

    impl Read {
        fn values<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r [u8]> {
            self.lines
                .iter()
                .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_slice())
        }
    }

    /// Reads one request with httparse, independent of the parsers of this crate.
    fn read_one(bytes: &mut &[u8]) -> Option<Read> {
        let mut lines = [httparse::EMPTY_HEADER; 200];
        let mut parsed = httparse::Request::new(&mut lines);
        let Ok(httparse::Status::Complete(length)) = parsed.parse(bytes) else { return None };
        let mut read = Read {
            method: parsed.method?.to_owned(),
            target: parsed.path?.to_owned(),
            version: parsed.version?,
            lines: parsed.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect(),
            body: Vec::new(),
        };
        let mut rest = &bytes[length..];
        let length = read.values("content-length").next().map(<[u8]>::to_vec);
        if read.values("transfer-encoding").next().is_some() {
            loop {
                let Ok(httparse::Status::Complete((start, size))) = httparse::parse_chunk_size(rest) else {
                    return None;
                };
                let size = usize::try_from(size).ok()?;
                let data = rest[start..].get(..size)?;
                rest = &rest[start + size..];
                if size == 0 {
                    // Skip the trailer lines up to the empty line.
                    while !rest.starts_with(b"\r\n") {
                        rest = &rest[rest.windows(2).position(|two| two == b"\r\n")? + 2..];
                    }
                    rest = &rest[2..];
                    break;
                }
                read.body.extend_from_slice(data);
                rest = rest.strip_prefix(b"\r\n")?;
            }
        } else if let Some(length) = length {
            let length: usize = String::from_utf8(length).ok()?.parse().ok()?;
            read.body = rest.get(..length)?.to_vec();
            rest = &rest[length..];
        }
        *bytes = rest;
        Some(read)
    }

    /// Processes `bytes` like a client connection does. Returns the bytes sent to the app, and the number of complete
    /// requests.
    fn forwarded(mut bytes: &[u8]) -> (Vec<u8>, usize) {
        let owner = Some(EmailAddress::parse("alice@example.org").unwrap());
        let policy = Policy { owner, ..Policy::without_owner() };
        let state = SharedState::new(policy, ([127, 0, 0, 1], 9).into(), Frame::default());
        let (mut out, mut count) = (Vec::new(), 0);
        while let Scan::Complete(length) = Scanner::default().scan(bytes, MAX_REQUEST_LINES) {
            let mut one = Vec::new();
            let Ok(admitted) = admit(&state.rules, &bytes[..length], None, &mut one) else { break };
            bytes = &bytes[length..];
            let mut body = BodyTranscoder::with_same_framing(admitted.framing);
            if body.feed(&mut bytes, &mut one).is_err() || !body.is_done() {
                break;
            }
            out.extend_from_slice(&one);
            count += 1;
        }
        (out, count)
    }

    /// Returns the header lines that the sidecar must forward unchanged. Leaves out the hop-by-hop lines and the lines that
    /// the sidecar replaces.
    fn lines_for_app<'r>(read: &'r Read, came: &Read) -> Vec<&'r (String, Vec<u8>)> {
        const OWN: [&str; 16] = [
            "connection",
            "content-length",
            "cookie",
            "expect",
            "http2-settings",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-proto",
        ];
        let nominated = |name: &str| {
            came.values("connection").any(|value| {
                String::from_utf8_lossy(value).split(',').any(|option| option.trim().eq_ignore_ascii_case(name))
            })
        };
        let trusted = TrustedHeader::default();
        read.lines
            .iter()
            .filter(|(name, _)| {
                let lower = name.to_ascii_lowercase();
                let is_required = ["host", "origin", "accept"].contains(&lower.as_str());
                !OWN.contains(&lower.as_str())
                    && !trusted.is_identity_header(name.as_bytes())
                    && (is_required || !nominated(name))
                    && (lower != "host" || came.values("host").next().is_some())
            })
            .collect()
    }

    fn assert_read_alike(bytes: &[u8]) -> usize {
        let (out, count) = forwarded(bytes);
        let (mut came, mut goes) = (bytes, &out[..]);
        for _ in 0..count {
            let (came, goes) = (read_one(&mut came).unwrap(), read_one(&mut goes).unwrap());
            assert_eq!((&goes.method, goes.version), (&came.method, 1));
            assert!(came.target == goes.target || came.target.contains("://"), "{came:?} {goes:?}");
            assert_eq!(goes.body, came.body);
            assert_eq!(lines_for_app(&goes, &came), lines_for_app(&came, &came));
            assert!(goes.values("content-length").count() + goes.values("transfer-encoding").count() <= 1, "{goes:?}");
            assert!(!goes.lines.iter().any(|(name, _)| TrustedHeader::default().is_identity_header(name.as_bytes())));
            assert_eq!(
                came.values("x-auth-request-email").collect::<Vec<_>>().len(),
                1,
                "only the owner's requests are forwarded"
            );
        }
        assert_eq!(goes, b"", "no bytes follow the last request");
        count
    }

    fn line() -> impl Strategy<Value = String> {
        let name = prop_oneof![
            8 => Just("Content-Length"), 8 => Just("Transfer-Encoding"), 2 => Just("content_length"),
            2 => Just("Transfer.Encoding"), 4 => Just("Connection"), 2 => Just("Upgrade"), 2 => Just("Host"),
            2 => Just("X-Auth-Request-Email"), 1 => Just("X_Auth_Request_Email"), 1 => Just("Expect"), 6 => Just("X-A"),
            2 => Just("TE"), 1 => Just("Origin"), 1 => Just("X-Forwarded-For"), 1 => Just("X-Auth-Request-User"),
        ];
        let value = prop_oneof![
            6 => "[0-9]{1,2}", 6 => Just("chunked".to_owned()), 2 => "(Chunked|gzip|identity|chunked, chunked|xchunked)",
            2 => "[+-]?[0-9]{1,3}", 2 => "(close|keep-alive|x-a|X-A, close|upgrade|content-length)",
            1 => Just("websocket".to_owned()), 2 => Just("w".to_owned()), 2 => Just("alice@example.org".to_owned()),
            2 => "[ -~\\t\\u{80}-\\u{ff}]{0,6}",
        ];
        let end = prop_oneof![30 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r"), 1 => Just("\r\n ")];
        let colon = prop_oneof![20 => Just(": "), 5 => Just(":"), 1 => Just(" : "), 1 => Just(":\t")];
        (name, colon, value, end).prop_map(|(name, colon, value, end)| format!("{name}{colon}{value}{end}"))
    }

    fn body() -> impl Strategy<Value = String> {
        let hidden = "GET /hidden HTTP/1.1\r\nHost: w\r\nX-Auth-Request-Email: alice@example.org\r\n\r\n";
        prop_oneof![
            4 => Just(String::new()),
            3 => "[a-z]{0,20}",
            4 => "([1-5](;[a-z=]{0,4})?\r\n[a-z]{1,5}\r\n){0,3}0\r\n(T: v\r\n)?\r\n",
            2 => prop::collection::vec("[a-z]{1,12}", 0..4).prop_map(|parts| {
                let chunk = |part: &String| format!("{:X}\r\n{part}\r\n", part.len());
                parts.iter().map(chunk).collect::<String>() + "0\r\n\r\n"
            }),
            1 => Just(hidden.to_owned()),
            1 => "[0-9a-f\r\n;]{0,12}",
        ]
    }

    fn request() -> impl Strategy<Value = String> {
        let method =
            prop_oneof![6 => Just("GET"), 6 => Just("POST"), 1 => Just("HEAD"), 1 => Just("OPTIONS"), 1 => Just("x")];
        let target = prop_oneof![8 => Just("/"), 2 => Just("/a%2Fb?c"), 1 => Just("http://w/x"), 1 => Just("*"), 1 => Just("//d")];
        let version = prop_oneof![20 => Just("1.1"), 1 => Just("1.0"), 1 => Just("2.0")];
        let lines = || prop::collection::vec(line(), 0..3).prop_map(|lines| lines.concat());
        let framed = prop_oneof![
            2 => (lines(), body()),
            2 => (lines(), body()).prop_map(|(lines, body)| (format!("{lines}Content-Length: {}\r\n", body.len()), body)),
            2 => (lines(), body()).prop_map(|(lines, body)| (format!("{lines}Transfer-Encoding: chunked\r\n"), body)),
        ];
        (method, target, version, framed).prop_map(|(method, target, version, (lines, body))| {
            let owner = "X-Auth-Request-Email: alice@example.org";
            format!("{method} {target} HTTP/{version}\r\nHost: w\r\n{owner}\r\n{lines}\r\n{body}")
        })
    }

    /// Generates pipelined requests with some bytes changed, inserted or removed.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"\r\n\t :;,0a\0"[..])];
        let change = (any::<prop::sample::Index>(), byte, 0..3_u8);
        let changes = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(change, 1..4)];
        (prop::collection::vec(request(), 1..4), changes).prop_map(|(requests, changes)| {
            let mut bytes = requests.concat().into_bytes();
            for (position, byte, kind) in changes {
                let at = position.index(bytes.len());
                match kind {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
            }
            bytes
        })
    }

    proptest! {
        #[test]
        fn other_parser_reads_forwarded_requests_like_received_requests(bytes in stream()) {
            assert_read_alike(&bytes);
        }

        #[test]
        fn random_bytes_are_never_forwarded(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            assert_eq!(assert_read_alike(&bytes), 0);
        }
    }

    #[test]
    fn other_parser_reads_forwarded_bytes_of_any_client_like_received_bytes() {
        let name = "other_parser_reads_forwarded_bytes_of_any_client_like_received_bytes";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 200_000, |bytes| {
            assert_read_alike(bytes);
        });
    }

    /// Guards the property tests: they would prove nothing if the sidecar refused all generated requests.
    #[test]
    fn generated_streams_include_forwarded_and_refused_requests() {
        let mut runner = TestRunner::deterministic();
        let streams = (0..1000).map(|_| stream().new_tree(&mut runner).unwrap().current());
        let counts: Vec<usize> = streams.map(|bytes| assert_read_alike(&bytes)).collect();
        let several = counts.iter().filter(|count| **count > 1).count();
        let none = counts.iter().filter(|count| **count == 0).count();
        assert!(several > 25 && none > 25 && none < 900, "{several} with several, {none} with none");
    }
}
