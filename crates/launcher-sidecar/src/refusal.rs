//! Reasons why the sidecar answers a request with an error instead of forwarding it, and these error responses.

use std::fmt::Display;
use std::io::Write as _;

use crate::http1::body::FramingError;
use crate::http1::head::MAX_RESPONSE_LINES;
use crate::http1::request::{HeadError, TargetError};
use crate::memory::HEAD;
use crate::metrics::Outcome;
use crate::notice::{Notice, POLICY, RELOAD_SECONDS};
use crate::texts::{Language, NoticeText};

/// Reason why the sidecar answers a request with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The request is not valid HTTP/1.
    Malformed(&'static str),
    Framing(FramingError),
    Target(TargetError),
    Version,
    HeadTooLarge,
    HeadTooSlow,
    Method,
    /// The path is reserved for the sidecar, which serves no resource there.
    UnknownResource,
    /// The request changes a resource of the sidecar, or has a body.
    ReadOnly,
    NoIdentity,
    NotTheOwner,
    ForeignOrigin,
    /// The workshop has the maximum number of event streams.
    TooManyStreams,
    /// The app does not accept connections.
    AppUnavailable,
    /// The app's response is not valid HTTP/1, or ends before its head is complete.
    InvalidAppResponse(ResponseError),
}

/// Rule of HTTP/1 that the app's response breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResponseError {
    #[error("the app closed the connection before the head of its answer was complete")]
    Incomplete,
    #[error("a line of the head ends with a line feed alone, without a carriage return")]
    BareLineFeed,
    #[error("the head has more than {} lines or {} bytes", MAX_RESPONSE_LINES, HEAD)]
    TooLarge,
    #[error("the first line is not a status line, as in HTTP/1.1 200 OK")]
    StatusLine,
    #[error("a header line is folded over two lines, or its name or value has a forbidden character")]
    HeaderLine,
    #[error("{0}")]
    Framing(#[from] FramingError),
    #[error("the length of a chunk, or a line after the last chunk, is malformed")]
    Chunk,
    #[error("it switches to a protocol that the client did not request, or its status is not between 100 and 999")]
    Switch,
}

impl From<httparse::Error> for ResponseError {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::HeaderName | httparse::Error::HeaderValue => Self::HeaderLine,
            httparse::Error::NewLine => Self::BareLineFeed,
            httparse::Error::TooManyHeaders => Self::TooLarge,
            httparse::Error::Status | httparse::Error::Version | httparse::Error::Token => Self::StatusLine,
        }
    }
}

/// Properties of a request that determine the form of its response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResponseForm {
    /// True for a HEAD request, whose response has no body.
    pub(crate) is_head: bool,
    /// True if the client accepts HTML.
    pub(crate) wants_html: bool,
    /// The client's preferred language. A line of text is always English.
    pub(crate) language: Language,
    /// True if the client may send another request on its connection.
    pub(crate) keep_alive: bool,
}

/// A request that the sidecar answers with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: Reason,
    /// `keep_alive` is true if the end of the request is known, and no part of its body is unread.
    pub(crate) form: ResponseForm,
    /// First label of the requested host, for a link to the page of the workshop with this name.
    pub(crate) label: Option<Box<str>>,
}

impl Refused {
    /// Refuses a request whose head cannot be parsed. The connection must close, because the end of the request is
    /// unknown.
    pub(crate) fn unread(reason: Reason) -> Self {
        Self { reason, form: ResponseForm::default(), label: None }
    }
}

impl Reason {
    /// The request's head is not valid HTTP/1.
    pub(crate) const MALFORMED_HEAD: Self = Self::Malformed("the request's head is malformed");
    /// The chunks of the request's body are invalid.
    pub(crate) const MALFORMED_BODY: Self = Self::Malformed("the request's body is malformed");

    /// Returns true if the end of the request is known, so that the next request can follow on the connection.
    pub(crate) fn is_understood(self) -> bool {
        matches!(
            self,
            Self::NoIdentity
                | Self::NotTheOwner
                | Self::ForeignOrigin
                | Self::AppUnavailable
                | Self::InvalidAppResponse(_)
                | Self::UnknownResource
                | Self::TooManyStreams
        )
    }

    /// Returns true if the sidecar does not know the caller as the owner.
    pub(crate) fn is_about_caller(self) -> bool {
        matches!(self, Self::NoIdentity | Self::NotTheOwner)
    }

    /// Returns the outcome under which the metrics count a request that is refused for this reason.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Malformed(_) | Self::Framing(_) | Self::Target(_) | Self::Version | Self::Method | Self::ReadOnly => {
                Outcome::Malformed
            }
            Self::UnknownResource | Self::TooManyStreams => Outcome::Served,
            Self::HeadTooLarge => Outcome::TooLarge,
            Self::HeadTooSlow => Outcome::TooSlow,
            Self::NoIdentity | Self::NotTheOwner => Outcome::NotTheOwner,
            Self::ForeignOrigin => Outcome::ForeignOrigin,
            Self::AppUnavailable => Outcome::AppUnavailable,
            Self::InvalidAppResponse(_) => Outcome::InvalidAppResponse,
        }
    }
}

impl From<HeadError> for Reason {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::Malformed => Self::MALFORMED_HEAD,
            HeadError::TooManyLines => Self::HeadTooLarge,
            HeadError::Version => Self::Version,
        }
    }
}

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
    let english =
        |status, title, text: &str| Answer { status, title, text: text.to_owned(), language: Language::ENGLISH };
    let malformed = |what: &dyn Display| english("400 Bad Request", "Bad request", &sentence(what));
    match reason {
        Reason::NoIdentity => translated("403 Forbidden", texts.not_signed_in),
        Reason::NotTheOwner => translated("403 Forbidden", texts.not_yours),
        Reason::AppUnavailable => translated("503 Service Unavailable", texts.starting),
        Reason::InvalidAppResponse(_) => translated("502 Bad Gateway", texts.no_answer),
        Reason::Malformed(what) => malformed(&what),
        Reason::Framing(error) => malformed(&error),
        Reason::Target(error) => malformed(&error),
        Reason::Version => english("505 HTTP Version Not Supported", "HTTP version not supported", "Use HTTP/1.1."),
        Reason::HeadTooLarge => english(
            "431 Request Header Fields Too Large",
            "Request too large",
            "The request has more than 100 header lines, or its head exceeds 64 KiB. Delete this site's cookies, \
             then try again.",
        ),
        Reason::HeadTooSlow => {
            english("408 Request Timeout", "Request too slow", "The request's head did not arrive within 30 seconds.")
        }
        Reason::Method => {
            english("405 Method Not Allowed", "Method not allowed", "Workshops do not accept this HTTP method.")
        }
        Reason::ReadOnly => english("405 Method Not Allowed", "Method not allowed", "Use GET or HEAD, without a body."),
        Reason::UnknownResource => {
            english("404 Not Found", "Not found", "This path is reserved for the launcher, which has no page here.")
        }
        Reason::ForeignOrigin => english(
            "403 Forbidden",
            "Foreign page",
            "Only the workshop's own pages may open a WebSocket or an event stream.",
        ),
        Reason::TooManyStreams => {
            english("503 Service Unavailable", "Too many event streams", "Read the status instead, or close a window.")
        }
    }
}

/// Appends the error response, with head and body, to `out`. The URLs are of links: of the launcher's page of the workshop
/// that the host names, and of the launcher.
pub(crate) fn write_error_response(
    &Refused { reason, form, .. }: &Refused,
    workshop_page: Option<&str>,
    launcher: Option<&str>,
    out: &mut Vec<u8>,
) {
    let answer = answer(reason, if form.wants_html { form.language } else { Language::ENGLISH });
    // The broken rule is for the author of the app, and so in English.
    let broken = match reason {
        Reason::InvalidAppResponse(error) => Some(format!("The app's answer breaks HTTP/1.1: {error}.")),
        _ => None,
    };
    let texts: Vec<&str> = [Some(&*answer.text), broken.as_deref()].into_iter().flatten().collect();
    let (media, body) = if form.wants_html {
        ("text/html", page(&answer, &texts, reason, workshop_page, launcher))
    } else {
        ("text/plain", texts.into_iter().flat_map(|text| [text, "\n"]).collect())
    };
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
        Reason::TooManyStreams => b"Retry-After: 60\r\n",
        _ => b"",
    });
    out.extend_from_slice(if form.keep_alive { b"\r\n" } else { b"Connection: close\r\n\r\n" });
    if !form.is_head {
        out.extend_from_slice(body.as_bytes());
    }
}

/// Returns an error response as a page. It has no brand: the page of a running sidecar must equal that of the notice program,
/// also after a change of the brand.
fn page(
    answer: &Answer,
    texts: &[&str],
    reason: Reason,
    workshop_page: Option<&str>,
    launcher: Option<&str>,
) -> String {
    let page = workshop_page.map(|url| (answer.language.texts().its_page, url));
    let notice = Notice {
        language: answer.language,
        title: answer.title,
        texts,
        links: page.as_slice(),
        launcher,
        brand: None,
        reload_seconds: (reason == Reason::AppUnavailable).then_some(RELOAD_SECONDS),
    };
    notice.html()
}

/// Formats an error message as a sentence, with a capital letter and a full stop.
fn sentence(what: &dyn Display) -> String {
    let text = what.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
