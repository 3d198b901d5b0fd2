//! Origin check of WebSockets. Only a page of the workshop's own origin may open a WebSocket to it. Browsers send the
//! owner's cookies with a WebSocket from any page, so a foreign page could otherwise act as the owner.

/// Returns true if `origin` (`https://host[:port]`) names the same host and port as `host`, the value of the Host
/// header. Each of them may omit the default port of the origin's scheme.
///
/// A proxy in front terminates TLS, so only `proto`, the X-Forwarded-Proto header, shows the scheme that the client
/// used. If `proto` is https or wss, an origin with http is foreign.
pub(crate) fn is_same_origin(origin: &[u8], host: &[u8], proto: Option<&[u8]>) -> bool {
    let Some((is_tls, authority)) = split(origin) else { return false };
    let came_over_tls =
        proto.is_some_and(|proto| proto.eq_ignore_ascii_case(b"https") || proto.eq_ignore_ascii_case(b"wss"));
    if came_over_tls && !is_tls {
        return false;
    }
    let default_port: &[u8] = if is_tls { b":443" } else { b":80" };
    let without_port = |text| <[u8]>::strip_suffix(text, default_port).unwrap_or(text);
    !authority.is_empty() && without_port(authority).eq_ignore_ascii_case(without_port(host))
}

fn split(origin: &[u8]) -> Option<(bool, &[u8])> {
    let end = origin.windows(3).position(|three| three == b"://")?;
    let (scheme, authority) = (&origin[..end], &origin[end + 3..]);
    if scheme.eq_ignore_ascii_case(b"https") {
        Some((true, authority))
    } else if scheme.eq_ignore_ascii_case(b"http") {
        Some((false, authority))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::is_same_origin;

    #[test]
    fn only_origin_that_matches_host_is_same_origin() {
        for (origin, host, proto, own) in [
            ("https://w.example", "w.example", None, true),
            ("https://w.example", "W.example:443", None, true),
            ("http://w.example:80", "w.example", None, true),
            ("http://w.localhost:8000", "w.localhost:8000", None, true),
            ("https://[::1]:8443", "[::1]:8443", Some("https"), true),
            ("https://w.example", "w.example", Some("http"), true),
            ("http://w.example", "w.example", Some("wss"), false),
            ("https://w.example:80", "w.example", None, false),
            ("http://w.example:8001", "w.example:8000", None, false),
            ("https://evil.example", "w.example", None, false),
            ("https://w.example.evil.example", "w.example", None, false),
            ("https://evil@w.example", "w.example", None, false),
            ("https://w.example/", "w.example", None, false),
            ("null", "w.example", None, false),
            ("null", "null", None, false),
            ("", "w.example", None, false),
            ("https://", "", None, false),
            ("chrome-extension://w.example", "w.example", None, false),
        ] {
            assert_eq!(
                is_same_origin(origin.as_bytes(), host.as_bytes(), proto.map(str::as_bytes)),
                own,
                "{origin} {host}"
            );
        }
    }
}
