//! Responses with the resources below the reserved prefix.

use std::io::Write as _;

use crate::frame::assets::{Asset, SCRIPT, STYLE};
use crate::frame::page::{POLICY, Page};
use crate::frame::resource::Resource;
use crate::frame::workshop_page::WorkshopPage;
use crate::frame::{AppCrash, Frame};
use crate::texts::Language;

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
pub(crate) async fn write(frame: &Frame, resource: &Resource, options: ResponseOptions, out: &mut Vec<u8>) {
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
            let page = Page { language, path, workshop_page: frame.workshop_page.as_ref(), expiry };
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

impl Frame {
    /// Returns the launcher's URL, for a link.
    pub(crate) fn launcher(&self) -> Option<String> {
        self.workshop_page.as_ref().map(|page| format!("{}/", WorkshopPage::origin(page)))
    }
}

#[cfg(test)]
mod tests {
    use launcher_domain::local_path::LocalPath;

    use super::*;
    use crate::memory::HEAD;

    #[tokio::test]
    async fn every_response_fits_into_the_buffer_of_a_head() {
        let path = LocalPath::parse(&format!("/{}", "\"".repeat(2047))).unwrap();
        for resource in [Resource::Page(path), Resource::Status, Resource::Style, Resource::Script] {
            for language in Language::ALL {
                let mut out = Vec::new();
                let options = ResponseOptions { language, head_only: false, close: true };
                write(&Frame::default(), &resource, options, &mut out).await;
                assert!(out.len() < HEAD, "{resource:?}: {} bytes", out.len());
            }
        }
    }
}
