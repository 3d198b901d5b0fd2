//! Error responses that the sidecar generates instead of forwarding a response of the app.

use std::io::Write as _;

use crate::refusal::Reason;

/// The parts of an error response that depend on the refusal reason.
struct Answer {
    status: &'static str,
    title: &'static str,
    text: String,
}

fn answer(reason: Reason) -> Answer {
    let (status, title, text) = match reason {
        Reason::Malformed(what) => ("400 Bad Request", "Bad request", sentence(what)),
        Reason::Framing(error) => ("400 Bad Request", "Bad request", sentence(error)),
        Reason::Target(error) => ("400 Bad Request", "Bad request", sentence(error)),
        Reason::Version => ("505 HTTP Version Not Supported", "HTTP version not supported", "Use HTTP/1.1.".to_owned()),
        Reason::HeadTooLarge => (
            "431 Request Header Fields Too Large",
            "Request too large",
            "The request has more than 100 header lines, or its head exceeds 64 KiB. Delete this site's cookies, \
             then try again."
                .to_owned(),
        ),
        Reason::HeadTooSlow => (
            "408 Request Timeout",
            "Request too slow",
            "The request's head did not arrive within 30 seconds.".to_owned(),
        ),
        Reason::Method => {
            ("405 Method Not Allowed", "Method not allowed", "Workshops do not accept this HTTP method.".to_owned())
        }
        Reason::NoIdentity => (
            "403 Forbidden",
            "Not signed in",
            "The request carries no identity. Open the workshop from the launcher, and sign in there.".to_owned(),
        ),
        Reason::NotTheOwner => (
            "403 Forbidden",
            "Not your workshop",
            "Only the user who launched this workshop can open it. If you launched it, sign in with the same \
             account."
                .to_owned(),
        ),
        Reason::ForeignOrigin => {
            ("403 Forbidden", "Foreign page", "Only the workshop's own pages may open a WebSocket to it.".to_owned())
        }
        Reason::AppUnavailable => (
            "503 Service Unavailable",
            "The workshop is starting",
            "The workshop does not answer yet. This page reloads every 2 seconds until it does.".to_owned(),
        ),
        Reason::InvalidAppResponse => (
            "502 Bad Gateway",
            "The workshop did not answer",
            "The app closed the connection, or sent an invalid response. Its log may show the reason.".to_owned(),
        ),
    };
    Answer { status, title, text }
}

/// Format of an error response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseFormat {
    /// True for an HTML page, false for a line of text.
    pub(crate) html: bool,
    /// True if the request is a HEAD request, whose response has no body.
    pub(crate) head_only: bool,
    /// True if the connection is closed after this response.
    pub(crate) close: bool,
}

/// Appends the error response, with head and body, to `out`.
pub(crate) fn write(reason: Reason, format: ResponseFormat, out: &mut Vec<u8>) {
    let answer = answer(reason);
    let body = if format.html { page(&answer, reason == Reason::AppUnavailable) } else { format!("{}\n", answer.text) };
    let media = if format.html { "text/html" } else { "text/plain" };
    // Ignore the result: writing to a `Vec` cannot fail.
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

/// Formats an error message as a sentence, with a capital letter and a full stop.
fn sentence(what: impl std::fmt::Display) -> String {
    let text = what.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}
