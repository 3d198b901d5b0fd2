//! Responses that this proxy generates.

use std::io::Write as _;

use crate::framing::FramingError;
use crate::metrics::Outcome;
use crate::target::TargetError;

/// Reason why this proxy answers a request instead of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The request is not the HTTP that this proxy forwards.
    Malformed(&'static str),
    Framing(FramingError),
    Target(TargetError),
    Version,
    HeadTooLarge,
    HeadTooSlow,
    Method,
    NoIdentity,
    NotTheOwner,
    ForeignOrigin,
    /// The app does not accept connections.
    AppUnavailable,
    /// The app's response is not HTTP, or ends before its head is complete.
    InvalidAppResponse,
}

/// The parts of a response that depend on the reason.
struct Answer {
    status: &'static str,
    title: &'static str,
    text: String,
}

impl Reason {
    /// Returns true when the request was understood, so that the next bytes are known to begin the next request.
    pub(crate) fn is_understood(self) -> bool {
        matches!(
            self,
            Self::NoIdentity
                | Self::NotTheOwner
                | Self::ForeignOrigin
                | Self::AppUnavailable
                | Self::InvalidAppResponse
        )
    }

    /// Returns the outcome that is counted for the request.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Malformed(_) | Self::Framing(_) | Self::Target(_) | Self::Version | Self::Method => {
                Outcome::Malformed
            }
            Self::HeadTooLarge => Outcome::TooLarge,
            Self::HeadTooSlow => Outcome::TooSlow,
            Self::NoIdentity | Self::NotTheOwner => Outcome::NotTheOwner,
            Self::ForeignOrigin => Outcome::ForeignOrigin,
            Self::AppUnavailable => Outcome::AppAway,
            Self::InvalidAppResponse => Outcome::AppBroken,
        }
    }

    fn answer(self) -> Answer {
        let (status, title, text) = match self {
            Self::Malformed(what) => ("400 Bad Request", "Bad request", sentence(what)),
            Self::Framing(error) => ("400 Bad Request", "Bad request", sentence(error)),
            Self::Target(error) => ("400 Bad Request", "Bad request", sentence(error)),
            Self::Version => {
                ("505 HTTP Version Not Supported", "HTTP version not supported", "Use HTTP/1.1.".to_owned())
            }
            Self::HeadTooLarge => (
                "431 Request Header Fields Too Large",
                "Request too large",
                "The request has more than 100 header lines, or more than 64 KiB of them. Deleting this site's cookies \
                 may help."
                    .to_owned(),
            ),
            Self::HeadTooSlow => {
                ("408 Request Timeout", "Request too slow", "The request's head took longer than 30 seconds.".to_owned())
            }
            Self::Method => ("405 Method Not Allowed", "Method not allowed", "Workshops do not take this method.".to_owned()),
            Self::NoIdentity => (
                "403 Forbidden",
                "Not signed in",
                "This request does not say who you are. Open the workshop from the launcher, and sign in there.".to_owned(),
            ),
            Self::NotTheOwner => (
                "403 Forbidden",
                "Not your workshop",
                "Only the person who launched this workshop can open it. If that is you, sign in with the account you \
                 launched it with."
                    .to_owned(),
            ),
            Self::ForeignOrigin => (
                "403 Forbidden",
                "Foreign page",
                "Only the workshop's own pages may open a WebSocket to it.".to_owned(),
            ),
            Self::AppUnavailable => (
                "503 Service Unavailable",
                "The workshop is starting",
                "The workshop does not answer yet. This page reloads until it does.".to_owned(),
            ),
            Self::InvalidAppResponse => (
                "502 Bad Gateway",
                "The workshop did not answer",
                "The workshop broke off, or its answer cannot be read. Its own log may say why.".to_owned(),
            ),
        };
        Answer { status, title, text }
    }
}

/// Format of one response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseFormat {
    /// An HTML page instead of a line of text.
    pub(crate) html: bool,
    /// The head alone, as HEAD asks for.
    pub(crate) head_only: bool,
    /// The connection ends with this response.
    pub(crate) close: bool,
}

/// Appends the whole response to `out`.
pub(crate) fn write(reason: Reason, format: ResponseFormat, out: &mut Vec<u8>) {
    let answer = reason.answer();
    let body = if format.html { page(&answer, reason == Reason::AppUnavailable) } else { format!("{}\n", answer.text) };
    let media = if format.html { "text/html" } else { "text/plain" };
    // Writing to a Vec cannot fail.
    let _ = write!(
        out,
        "HTTP/1.1 {}\r\nContent-Type: {media}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'\r\n",
        answer.status,
        body.len(),
    );
    out.extend_from_slice(match reason {
        Reason::Method => b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n",
        Reason::AppUnavailable => b"Retry-After: 2\r\n",
        _ => b"",
    });
    out.extend_from_slice(if format.close { b"Connection: close\r\n\r\n" } else { b"\r\n" });
    if !format.head_only {
        out.extend_from_slice(body.as_bytes());
    }
}

fn page(answer: &Answer, reloads: bool) -> String {
    let refresh = if reloads { "<meta http-equiv=\"refresh\" content=\"2\">\n" } else { "" };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         {refresh}<title>{0}</title>\n<main>\n<h1>{0}</h1>\n<p>{1}</p>\n</main>\n</html>\n",
        answer.title, answer.text,
    )
}

/// Formats an error as a sentence.
fn sentence(what: impl std::fmt::Display) -> String {
    let text = what.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
