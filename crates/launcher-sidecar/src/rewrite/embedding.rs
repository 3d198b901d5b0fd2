//! Response headers with which an app forbids every frame. The frame page shows the app in a frame of the same origin:
//! for this use, the sidecar permits frames of the same origin.

use crate::http1::lines::put;

/// Appends the header line if it forbids every frame, changed so that it permits frames of the same origin. Returns
/// false, and appends nothing, for any other line.
pub(super) fn put_permitting_own_frames(name: &[u8], value: &[u8], out: &mut Vec<u8>) -> bool {
    if !forbids_every_frame(name, value) {
        return false;
    }
    if name.eq_ignore_ascii_case(b"x-frame-options") {
        put(out, name, b"SAMEORIGIN");
    } else {
        put(out, name, &permit_own_frames(value));
    }
    true
}

/// True for a header of the app that forbids every frame.
pub(super) fn forbids_every_frame(name: &[u8], value: &[u8]) -> bool {
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
    use super::*;

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
}
