//! Error responses that the sidecar generates instead of forwarding a response of the app.

use std::io::Write as _;

use crate::notice::{Notice, POLICY};
use crate::refusal::Reason;
use crate::texts::{Language, NoticeText};

/// Seconds until the page of a starting app reloads itself.
const RELOAD_SECONDS: u8 = 2;

/// The parts of an error response that depend on the refusal reason.
struct Answer {
    status: &'static str,
    title: &'static str,
    text: String,
    /// The language of title and text.
    language: Language,
}

fn answer(reason: Reason, language: Language) -> Answer {
    let texts = language.texts();
    let translated = |status, NoticeText { title, text }| Answer { status, title, text: text.to_owned(), language };
    // No browser sends these requests for a page: their texts are for developers.
    let english = |status, title, text| Answer { status, title, text, language: Language::English };
    match reason {
        Reason::NoIdentity => translated("403 Forbidden", texts.not_signed_in),
        Reason::NotTheOwner => translated("403 Forbidden", texts.not_yours),
        Reason::AppUnavailable => translated("503 Service Unavailable", texts.starting),
        Reason::InvalidAppResponse => translated("502 Bad Gateway", texts.no_answer),
        Reason::Malformed(what) => english("400 Bad Request", "Bad request", sentence(what)),
        Reason::Framing(error) => english("400 Bad Request", "Bad request", sentence(error)),
        Reason::Target(error) => english("400 Bad Request", "Bad request", sentence(error)),
        Reason::Version => {
            english("505 HTTP Version Not Supported", "HTTP version not supported", "Use HTTP/1.1.".to_owned())
        }
        Reason::HeadTooLarge => english(
            "431 Request Header Fields Too Large",
            "Request too large",
            "The request has more than 100 header lines, or its head exceeds 64 KiB. Delete this site's cookies, \
             then try again."
                .to_owned(),
        ),
        Reason::HeadTooSlow => {
            let text = "The request's head did not arrive within 30 seconds.".to_owned();
            english("408 Request Timeout", "Request too slow", text)
        }
        Reason::Method => {
            let text = "Workshops do not accept this HTTP method.".to_owned();
            english("405 Method Not Allowed", "Method not allowed", text)
        }
        Reason::ReadOnly => {
            let text = "Use GET or HEAD, without a body.".to_owned();
            english("405 Method Not Allowed", "Method not allowed", text)
        }
        Reason::UnknownResource => {
            let text = "This path is reserved for the launcher, which has no page here.".to_owned();
            english("404 Not Found", "Not found", text)
        }
        Reason::ForeignOrigin => {
            let text = "Only the workshop's own pages may open a WebSocket to it.".to_owned();
            english("403 Forbidden", "Foreign page", text)
        }
    }
}

/// Format of an error response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseFormat<'a> {
    /// True for an HTML page, false for a line of text.
    pub(crate) html: bool,
    /// The client's preferred language. A line of text is always English.
    pub(crate) language: Language,
    /// URL of the launcher, for a link.
    pub(crate) launcher: Option<&'a str>,
    /// True if the request is a HEAD request, whose response has no body.
    pub(crate) head_only: bool,
    /// True if the connection is closed after this response.
    pub(crate) close: bool,
}

/// Appends the error response, with head and body, to `out`.
pub(crate) fn write(reason: Reason, format: ResponseFormat<'_>, out: &mut Vec<u8>) {
    let answer = answer(reason, if format.html { format.language } else { Language::English });
    let body = if format.html { page(&answer, reason, format.launcher) } else { format!("{}\n", answer.text) };
    let media = if format.html { "text/html" } else { "text/plain" };
    // Ignore the result: writing to a `Vec` cannot fail.
    let _ = write!(
        out,
        "HTTP/1.1 {}\r\nContent-Type: {media}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {POLICY}\r\n",
        answer.status,
        body.len(),
    );
    out.extend_from_slice(match reason {
        Reason::Method => b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n",
        Reason::ReadOnly => b"Allow: GET, HEAD\r\n",
        Reason::AppUnavailable => b"Retry-After: 2\r\n",
        _ => b"",
    });
    out.extend_from_slice(if format.close { b"Connection: close\r\n\r\n" } else { b"\r\n" });
    if !format.head_only {
        out.extend_from_slice(body.as_bytes());
    }
}

fn page(answer: &Answer, reason: Reason, launcher: Option<&str>) -> String {
    let notice = Notice {
        language: answer.language,
        title: answer.title,
        text: &answer.text,
        remedy: None,
        launcher,
        reload_seconds: (reason == Reason::AppUnavailable).then_some(RELOAD_SECONDS),
    };
    notice.html()
}

/// Formats an error message as a sentence, with a capital letter and a full stop.
fn sentence(what: impl std::fmt::Display) -> String {
    let text = what.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
