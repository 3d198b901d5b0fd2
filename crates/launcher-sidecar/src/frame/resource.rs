//! Resources below the reserved prefix: the request for one of them, and its response.

use std::io::Write as _;

use launcher_domain::MaterialTrouble;
use launcher_domain::frame_path::{APP_PATH, EVENTS, FRAME, LANGUAGE, MATERIAL, PLAIN_COOKIE, PREFIX, STATUS, WORKER};
use launcher_domain::local_path::LocalPath;

use crate::frame::Frame;
use crate::frame::page::{POLICY, Page, SCRIPTS, Script, WORKER_SCRIPT, style};
use crate::frame::status::Status;
use crate::http1::body::Framing;
use crate::refusal::{Reason, ResponseForm};
use crate::texts::Language;
use crate::transport::upstream::Pool;

/// A resource that the sidecar serves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The frame page. Its frame shows this path of the app, `None`: the start path. The address may choose the language, and
    /// name the trouble of the course material.
    Page { path: Option<LocalPath>, chosen: Option<Language>, material: Option<MaterialTrouble> },
    /// The expiry, the last crash, the state of the app and the current time, as JSON.
    Status,
    /// The same status as an event stream: one event for each change.
    Events,
    /// The style sheet of the frame page.
    Style,
    /// A script of the frame page.
    Script(&'static Script),
    /// The service worker of the frame page.
    Worker,
    /// A page of the app in a tab: a redirect to the frame page with this path of the app, `None`: the start path.
    Tab(Option<LocalPath>),
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
    let own = |path: &'static str| path.strip_prefix(PREFIX).unwrap_or(path).as_bytes();
    Some(match name {
        // Ignore the path: the frame requests it as same-origin, so another site could bypass a check of the app.
        name if name == own(FRAME) => {
            let material = parameter(query, MATERIAL).and_then(|value| str::from_utf8(value).ok());
            Ok(Resource::Page {
                path: if is_from_another_site { None } else { app_path(query) },
                chosen: parameter(query, LANGUAGE).and_then(Language::with_code),
                material: material.and_then(MaterialTrouble::parse),
            })
        }
        name if name == own(STATUS) => Ok(Resource::Status),
        // Refuse other sites: an image there could occupy a stream.
        name if name == own(EVENTS) && is_from_another_site => Err(Reason::ForeignOrigin),
        name if name == own(EVENTS) => Ok(Resource::Events),
        b"frame.css" => Ok(Resource::Style),
        name if name == own(WORKER) => Ok(Resource::Worker),
        name => {
            let script = SCRIPTS.into_iter().find(|script| script.name.as_bytes() == name);
            script.map(Resource::Script).ok_or(Reason::UnknownResource)
        }
    })
}

/// Returns the path of the app that the parameter `path` of a query names. Returns `None` if the parameter is missing, is
/// not a path of this site, or is a reserved path.
fn app_path(query: &[u8]) -> Option<LocalPath> {
    parameter(query, APP_PATH).and_then(decode).and_then(|path| LocalPath::parse_of_app(&path))
}

/// Returns the first value of a parameter.
fn parameter<'q>(query: &'q [u8], name: &str) -> Option<&'q [u8]> {
    let parameters = query.strip_prefix(b"?").unwrap_or_default().split(|&byte| byte == b'&');
    parameters.filter_map(|parameter| parameter.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).next()
}

/// Returns the language that the owner chose in the launcher, by the value of a `Cookie` header.
pub(crate) fn remembered_language(cookies: &[u8]) -> Option<Language> {
    cookie(cookies, LANGUAGE_COOKIE).and_then(Language::with_code)
}

/// Returns true if the frame page wants this path of the app without the bar, by the value of a `Cookie` header.
pub(crate) fn asks_for_plain_page(cookies: &[u8], path: &LocalPath) -> bool {
    cookie(cookies, PLAIN_COOKIE).and_then(decode).is_some_and(|plain| plain == path.as_str())
}

/// Returns the first value of a cookie.
fn cookie<'c>(cookies: &'c [u8], name: &str) -> Option<&'c [u8]> {
    let mut cookies = cookies.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    cookies.find_map(|cookie| cookie.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Returns the address of the frame page that shows this path of the app.
fn frame_with(path: Option<&LocalPath>) -> String {
    let Some(path) = path else { return FRAME.to_owned() };
    let encoded = |byte: u8| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    format!("{FRAME}?{APP_PATH}={}", path.as_str().bytes().map(encoded).collect::<String>())
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

/// Name of the cookie with the language that the owner chose in the launcher, as of the launcher's own cookie. Browsers send
/// it only below the reserved prefix, so the app does not receive it.
const LANGUAGE_COOKIE: &str = "language";
/// Time for which the browser remembers the language, in seconds: one year.
const REMEMBERED_SECONDS: u32 = 365 * 24 * 3600;

/// Cache lifetime of the files, whose URLs contain a hash of their content.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// Policy of responses that are no page.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

/// The parts of a response that depend on the resource.
struct Answer {
    media: &'static str,
    cache: &'static str,
    policy: &'static str,
    body: String,
}

/// Appends the response with this resource, with head and body, to `out`.
pub(crate) async fn write_resource(
    frame: &Frame,
    app: &Pool,
    resource: &Resource,
    form: ResponseForm,
    out: &mut Vec<u8>,
) {
    let answer = answer(frame, app, resource, form.language).await;
    // Ignore the results: writing to a `Vec` cannot fail.
    let _ = match resource {
        Resource::Tab(path) => write!(out, "HTTP/1.1 303 See Other\r\nLocation: {}\r\n", frame_with(path.as_ref())),
        _ => write!(out, "HTTP/1.1 200 OK\r\n"),
    };
    let _ = write!(
        out,
        "Content-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: {}\r\n\
         Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin\r\n\
         Vary: Accept-Language, Cookie\r\n",
        answer.media,
        answer.body.len(),
        answer.cache,
        answer.policy,
    );
    if let Resource::Page { chosen: Some(language), .. } = resource {
        let code = language.texts().code;
        let _ = write!(
            out,
            "Set-Cookie: {LANGUAGE_COOKIE}={code}; Path={PREFIX}; Max-Age={REMEMBERED_SECONDS}; HttpOnly; SameSite=Lax\r\n"
        );
    }
    out.extend_from_slice(if form.keep_alive { b"\r\n" } else { b"Connection: close\r\n\r\n" });
    if !form.is_head {
        out.extend_from_slice(answer.body.as_bytes());
    }
}

async fn answer(frame: &Frame, app: &Pool, resource: &Resource, language: Language) -> Answer {
    let fresh = |media, body| Answer { media, cache: "no-store", policy: NO_PAGE, body };
    let cached = |media, body| Answer { media, cache: FOR_EVER, policy: NO_PAGE, body };
    match resource {
        Resource::Page { path, chosen, material } => {
            let page = Page {
                language: chosen.unwrap_or(language),
                path: path.as_ref().unwrap_or(&frame.start_path),
                start_path: &frame.start_path,
                workshop_page: frame.workshop_page.as_ref(),
                course: frame.course.as_deref(),
                material: *material,
                brand: &frame.brand,
                expiry: frame.expiry.read().await,
                class_path: frame.class_path(),
                in_class: frame.in_class,
            };
            Answer { policy: POLICY, ..fresh("text/html", page.html()) }
        }
        Resource::Status => fresh("application/json", Status::read(frame, app).await.json(frame.clock.now()) + "\n"),
        // The connection itself sends the events. A HEAD request gets no body.
        Resource::Events => fresh("text/event-stream", String::new()),
        Resource::Style => cached("text/css", style(&frame.brand)),
        Resource::Script(script) => cached("text/javascript", script.content.to_owned()),
        // Its URL has no hash: a worker at another URL would replace the former one.
        Resource::Worker => fresh("text/javascript", WORKER_SCRIPT.to_owned()),
        Resource::Tab(_) => fresh("text/plain", String::new()),
    }
}

#[cfg(test)]
mod tests {
    use crate::frame::WorkshopPage;
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
                Some(Ok(Resource::Page { path, .. })) => path.map(String::from),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((page(false), page(true)), (Some("/files/x".to_owned()), None));
    }

    #[tokio::test]
    async fn every_response_fits_into_the_buffer_of_a_head() {
        let path = LocalPath::parse(&format!("/{}", "\"".repeat(2047)));
        let app = Pool::new(([127, 0, 0, 1], 9).into());
        let (start_path, course) = (path.clone().unwrap(), Some("\"".repeat(200)));
        let workshop_page = WorkshopPage::parse("https://launcher.example.org/instances/intro-abcdefghij").ok();
        let frame = Frame { start_path, course, workshop_page, in_class: true, ..Frame::default() };
        let page = Resource::Page { path, chosen: Some(Language::ENGLISH), material: Some(MaterialTrouble::Failed) };
        let tab = Resource::Tab(LocalPath::parse(&format!("/{}", "\"".repeat(2047))));
        let files = SCRIPTS.map(Resource::Script).into_iter().chain([Resource::Style, Resource::Worker]);
        for resource in [page, tab, Resource::Status].into_iter().chain(files) {
            for language in Language::all() {
                let mut out = Vec::new();
                let form = ResponseForm { language, ..ResponseForm::default() };
                write_resource(&frame, &app, &resource, form, &mut out).await;
                assert!(out.len() < HEAD, "{resource:?}: {} bytes", out.len());
            }
        }
    }
}
