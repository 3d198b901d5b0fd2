//! The response with an archive of files.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

/// Returns an archive as a response. Its file has the name of the template, so that a browser saves it under this name.
pub(crate) fn archive(template_name: &str, files: Body) -> Response {
    let disposition = format!("attachment; filename=\"{}.tar.gz\"", file_name(template_name));
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/gzip")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (CONTENT_DISPOSITION, HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    (StatusCode::OK, headers, files).into_response()
}

/// Returns the ASCII letters and digits of a name, with single hyphens between words.
fn file_name(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    if joined.is_empty() { "work".to_owned() } else { joined }
}
