//! Header lines: storage, kinds, and values that are lists.

use std::mem::MaybeUninit;

/// Storage for the header lines of one head. It is uninitialized, because clearing it would cost time for each request.
pub(crate) type HeaderStorage<'b, const N: usize> = [MaybeUninit<httparse::Header<'b>>; N];

/// Kind of a header line. It determines how the sidecar handles the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    Accept,
    Connection,
    ContentLength,
    Cookie,
    Expect,
    ForwardedFor,
    ForwardedHost,
    ForwardedProto,
    Host,
    Origin,
    SetCookie,
    TransferEncoding,
    Upgrade,
    /// Applies to one connection only. The sidecar never forwards it.
    HopByHop,
    /// Carries the caller's identity. The sidecar never forwards it.
    Identity,
    /// Any other header line.
    Other,
}

impl HeaderKind {
    /// Returns the kind of a header line by its name. Ignores case.
    pub(crate) fn of(name: &[u8]) -> Self {
        let candidates: &[(&[u8], Self)] = match name.len() {
            2 => &[(b"te", Self::HopByHop)],
            4 => &[(b"host", Self::Host)],
            6 => &[
                (b"accept", Self::Accept),
                (b"cookie", Self::Cookie),
                (b"origin", Self::Origin),
                (b"expect", Self::Expect),
            ],
            7 => &[(b"upgrade", Self::Upgrade), (b"trailer", Self::HopByHop)],
            10 => {
                &[(b"connection", Self::Connection), (b"set-cookie", Self::SetCookie), (b"keep-alive", Self::HopByHop)]
            }
            14 => &[(b"content-length", Self::ContentLength), (b"http2-settings", Self::HopByHop)],
            15 => &[(b"x-forwarded-for", Self::ForwardedFor)],
            16 => &[(b"x-forwarded-host", Self::ForwardedHost), (b"proxy-connection", Self::HopByHop)],
            17 => &[(b"transfer-encoding", Self::TransferEncoding), (b"x-forwarded-proto", Self::ForwardedProto)],
            18 => &[(b"proxy-authenticate", Self::HopByHop)],
            19 => &[(b"proxy-authorization", Self::HopByHop)],
            _ => return Self::Other,
        };
        candidates.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(Self::Other, |&(_, kind)| kind)
    }
}

/// True if the byte is allowed in methods and header names (RFC 9110, 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the trimmed elements of a comma-separated header value. Skips empty elements.
pub(crate) fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}
