//! Resources below the reserved prefix: the request for one of them, and its response.

use std::io::Write as _;

use launcher_domain::frame_path::PREFIX;
use launcher_domain::local_path::LocalPath;

use crate::frame::page::{Asset, POLICY, Page, SCRIPT, STYLE};
use crate::frame::{AppCrash, Frame};
use crate::http1::body::Framing;
use crate::refusal::Reason;
use crate::texts::Language;

/// A resource that the sidecar serves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The frame page. Its frame shows this path of the app, `None`: the start path.
    Page(Option<LocalPath>),
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
        b"frame" if is_from_another_site => Ok(Resource::Page(None)),
        b"frame" => Ok(Resource::Page(app_path(query))),
        b"status" => Ok(Resource::Status),
        b"frame.css" => Ok(Resource::Style),
        b"frame.js" => Ok(Resource::Script),
        _ => Err(Reason::UnknownResource),
    })
}

/// Returns the path of the app that the parameter `path` of a query names. Returns `None` if the parameter is missing, is
/// not a path of this site, or is a reserved path.
fn app_path(query: &[u8]) -> Option<LocalPath> {
    let parameters = query.strip_prefix(b"?").unwrap_or_default().split(|&byte| byte == b'&');
    let value = parameters.filter_map(|parameter| parameter.strip_prefix(b"path=")).next();
    value.and_then(decode).and_then(|path| LocalPath::parse_of_app(&path))
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

/// Cache lifetime of the files, whose URLs contain a hash of their content.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// Policy of responses that are no page.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

/// Properties of a response that depend on the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseOptions {
    pub(crate) language: Language,
    /// True if the request is a HEAD request, whose response has no body.
    pub(crate) head_only: bool,
    /// True if the connection is closed after this response.
    pub(crate) close: bool,
}

/// The parts of a response that depend on the resource.
struct Answer {
    media: &'static str,
    cache: &'static str,
    policy: &'static str,
    body: String,
}

/// Appends the response with this resource, with head and body, to `out`.
pub(crate) async fn write_resource(frame: &Frame, resource: &Resource, options: ResponseOptions, out: &mut Vec<u8>) {
    let answer = answer(frame, resource, options.language).await;
    // Ignore the results: writing to a `Vec` cannot fail.
    let _ = write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: {}\r\n\
         Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n\
         Vary: Accept-Language\r\n",
        answer.media,
        answer.body.len(),
        answer.cache,
        answer.policy,
    );
    out.extend_from_slice(if options.close { b"Connection: close\r\n\r\n" } else { b"\r\n" });
    if !options.head_only {
        out.extend_from_slice(answer.body.as_bytes());
    }
}

async fn answer(frame: &Frame, resource: &Resource, language: Language) -> Answer {
    match resource {
        Resource::Page(path) => {
            let expiry = frame.expiry.read().await;
            let start_path = &frame.start_path;
            let path = path.as_ref().unwrap_or(start_path);
            let page = Page { language, path, start_path, workshop_page: frame.workshop_page.as_ref(), expiry };
            Answer { media: "text/html", cache: "no-store", policy: POLICY, body: page.html() }
        }
        Resource::Status => {
            Answer { media: "application/json", cache: "no-store", policy: NO_PAGE, body: status(frame).await }
        }
        Resource::Style => file(&STYLE),
        Resource::Script => file(&SCRIPT),
    }
}

/// Returns the expiry, the last crash and the current time as JSON. Times in RFC 3339 need no escape.
async fn status(frame: &Frame) -> String {
    let expires_at = frame.expiry.read().await.map_or("null".to_owned(), |expiry| format!("\"{expiry}\""));
    let crash =
        frame.last_crash.read().await.map_or("null".to_owned(), |AppCrash { at, out_of_memory, files_lost }| {
            format!("{{\"at\":\"{at}\",\"out_of_memory\":{out_of_memory},\"files_lost\":{files_lost}}}")
        });
    format!("{{\"expires_at\":{expires_at},\"crash\":{crash},\"now\":\"{}\"}}\n", frame.clock.now())
}

fn file(asset: &Asset) -> Answer {
    Answer { media: asset.media, cache: FOR_EVER, policy: NO_PAGE, body: asset.content.to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::memory::HEAD;
    use launcher_domain::local_path::LocalPath;

    use super::*;

    #[test]
    fn only_local_path_of_the_app_is_shown_in_the_frame() {
        for (query, expected) in [
            ("", None),
            ("?path=/lab/tree/x", Some("/lab/tree/x")),
            ("?path=%2Flab%2Ftree%2Fa%2520b%3Fx%3D1%26y%23z", Some("/lab/tree/a%20b?x=1&y#z")),
            ("?other=1&path=/a&path=/b", Some("/a")),
            ("?path=", None),
            ("?path=lab", None),
            ("?path=//evil.example", None),
            ("?path=%2F%2Fevil.example", None),
            ("?path=/%5Cevil.example", None),
            ("?path=/%09/evil.example", None),
            ("?path=https://evil.example", None),
            ("?path=javascript:alert(1)", None),
            ("?path=/a%2", None),
            ("?path=/a%+1", None),
            ("?path=/%ff", None),
            ("?path=/_launcher/frame", None),
            ("?path=/a%22%3E%3Cscript%3E", Some("/a\"><script>")),
        ] {
            assert_eq!(app_path(query.as_bytes()).map(String::from).as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn another_site_cannot_choose_the_page_of_the_app() {
        let page = |is_from_another_site| {
            let target = b"/_launcher/frame?path=/files/x";
            match requested("GET", target, Framing::Empty, is_from_another_site) {
                Some(Ok(Resource::Page(path))) => path.map(String::from),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((page(false), page(true)), (Some("/files/x".to_owned()), None));
    }

    #[tokio::test]
    async fn every_response_fits_into_the_buffer_of_a_head() {
        let path = LocalPath::parse(&format!("/{}", "\"".repeat(2047)));
        let frame = Frame { start_path: path.clone().unwrap(), ..Frame::default() };
        for resource in [Resource::Page(path), Resource::Status, Resource::Style, Resource::Script] {
            for language in Language::all() {
                let mut out = Vec::new();
                let options = ResponseOptions { language, head_only: false, close: true };
                write_resource(&frame, &resource, options, &mut out).await;
                assert!(out.len() < HEAD, "{resource:?}: {} bytes", out.len());
            }
        }
    }
}
