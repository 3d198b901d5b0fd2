//! Pages that the gateway serves on a workshop's origin when no app can answer.

use std::fmt::Write;

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFRESH, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use launcher_process::serve::Body;
use launcher_workshop::{Phase, Workshop};

/// Reload interval of the page of a starting workshop, in seconds.
const RELOAD_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// The page for a workshop that does not exist.
pub(super) fn unknown() -> Response<Body> {
    page(StatusCode::NOT_FOUND, "No such workshop", "There is no workshop at this address. It may have ended.", None)
}

/// The page for a caller who is not the owner, or for a missing workshop. It must not reveal which of the two is true.
pub(super) fn forbidden() -> Response<Body> {
    page(
        StatusCode::FORBIDDEN,
        "Not your workshop",
        "You have no workshop at this address. It may have ended, or belong to another user.",
        None,
    )
}

/// The page for an app that answered with invalid HTTP, or that has just exited.
pub(super) fn broken() -> Response<Body> {
    page(
        StatusCode::BAD_GATEWAY,
        "The workshop does not answer",
        "The connection to the workshop was lost. Reload this page.",
        None,
    )
}

/// The page for an app that is starting, has failed or has ended.
pub(super) fn not_running(workshop: Workshop) -> Response<Body> {
    let status = workshop.status.unwrap_or_default();
    match status.phase {
        _ if workshop.metadata.deletion_timestamp.is_some() => ended("It was terminated."),
        Phase::Pending | Phase::Starting | Phase::Running => {
            let mut response = page(
                StatusCode::SERVICE_UNAVAILABLE,
                "Your workshop is starting",
                "This page reloads until the workshop is ready.",
                None,
            );
            response.headers_mut().insert(REFRESH, RELOAD_SECONDS);
            response.headers_mut().insert(RETRY_AFTER, RELOAD_SECONDS);
            response
        }
        Phase::Failed => {
            let message = status.message.as_deref().unwrap_or("The cause is unknown.");
            page(StatusCode::SERVICE_UNAVAILABLE, "Your workshop has failed", message, status.remedy.as_deref())
        }
        Phase::Expired => ended("Its time was up."),
    }
}

fn ended(why: &str) -> Response<Body> {
    page(StatusCode::SERVICE_UNAVAILABLE, "Your workshop has ended", why, None)
}

fn page(status: StatusCode, title: &str, message: &str, remedy: Option<&str>) -> Response<Body> {
    let (message, remedy) = (escape(message), remedy.map(escape));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         </head>\n<body><main><h1>{title}</h1><p>{message}</p>"
    );
    if let Some(remedy) = remedy {
        // Writing to a String cannot fail.
        let _ = write!(html, "<p>{remedy}</p>");
    }
    html.push_str("</main></body></html>\n");
    let mut response = Response::new(Full::from(html).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"));
    response
}

/// Escapes text for HTML: a failure's message may contain text of a template.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
