//! Resources below the reserved prefix, and the request for one of them.

use launcher_domain::frame_path::PREFIX;
use launcher_domain::local_path::LocalPath;

use crate::http1::framing::Framing;
use crate::refusal::Reason;

/// A resource that the sidecar serves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The frame page. Its frame shows this path of the app.
    Page(LocalPath),
    /// The expiry, the last crash and the current time, as JSON.
    Status,
    /// The style sheet of the frame page.
    Style,
    /// The script of the frame page.
    Script,
}

/// Returns the resource for a request with this path and query. Returns `None` for a path of the app.
///
/// # Errors
/// Returns the reason of the refusal for an unknown path below the prefix, another method than GET or HEAD, and a
/// request with a body.
pub(crate) fn requested(
    method: &str,
    target: &[u8],
    framing: Framing,
    is_from_another_site: bool,
) -> Option<Result<Resource, Reason>> {
    let rest = target.strip_prefix(PREFIX.as_bytes())?;
    if !matches!(method, "GET" | "HEAD") || framing != Framing::Empty {
        return Some(Err(Reason::ReadOnly));
    }
    let end = rest.iter().position(|&byte| byte == b'?').unwrap_or(rest.len());
    let (name, query) = rest.split_at(end);
    Some(match name {
        // Ignore the path: the frame requests it as same-origin, so another site could bypass a check of the app.
        b"frame" if is_from_another_site => Ok(Resource::Page(LocalPath::root())),
        b"frame" => Ok(Resource::Page(app_path(query))),
        b"status" => Ok(Resource::Status),
        b"frame.css" => Ok(Resource::Style),
        b"frame.js" => Ok(Resource::Script),
        _ => Err(Reason::UnknownResource),
    })
}

/// Returns the path of the app that the parameter `path` of a query names. Returns the start page if the parameter is
/// missing, is not a path of this site, or is a reserved path.
fn app_path(query: &[u8]) -> LocalPath {
    let parameters = query.strip_prefix(b"?").unwrap_or_default().split(|&byte| byte == b'&');
    let value = parameters.filter_map(|parameter| parameter.strip_prefix(b"path=")).next();
    let decoded = value.and_then(decode).and_then(|path| LocalPath::parse(&path));
    decoded.filter(|path| !path.as_str().starts_with(PREFIX)).unwrap_or_else(LocalPath::root)
}

/// Decodes percent-encoded bytes. Returns `None` for an incomplete code, and for bytes that are not UTF-8.
fn decode(text: &[u8]) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let (digits, next) = after.split_at_checked(2)?;
            decoded.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = next;
        } else {
            decoded.push(first);
            rest = after;
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_path_of_the_app_is_shown_in_the_frame() {
        for (query, expected) in [
            ("", "/"),
            ("?path=/lab/tree/x", "/lab/tree/x"),
            ("?path=%2Flab%2Ftree%2Fa%2520b%3Fx%3D1%26y%23z", "/lab/tree/a%20b?x=1&y#z"),
            ("?other=1&path=/a&path=/b", "/a"),
            ("?path=", "/"),
            ("?path=lab", "/"),
            ("?path=//evil.example", "/"),
            ("?path=%2F%2Fevil.example", "/"),
            ("?path=/%5Cevil.example", "/"),
            ("?path=/%09/evil.example", "/"),
            ("?path=https://evil.example", "/"),
            ("?path=javascript:alert(1)", "/"),
            ("?path=/a%2", "/"),
            ("?path=/a%+1", "/"),
            ("?path=/%ff", "/"),
            ("?path=/_launcher/frame", "/"),
            ("?path=/a%22%3E%3Cscript%3E", "/a\"><script>"),
        ] {
            assert_eq!(app_path(query.as_bytes()).as_str(), expected, "{query}");
        }
    }

    #[test]
    fn another_site_cannot_choose_the_page_of_the_app() {
        let page = |is_from_another_site| {
            let target = b"/_launcher/frame?path=/files/x";
            match requested("GET", target, Framing::Empty, is_from_another_site) {
                Some(Ok(Resource::Page(path))) => path.as_str().to_owned(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((page(false), page(true)), ("/files/x".to_owned(), "/".to_owned()));
    }
}
