//! Compression of texts with gzip, for clients that accept it.
//!
//! The layer of `tower-http` does not serve here: it loses the size of the body, which the admission needs, and compresses
//! large texts in the thread of other requests.
//!
//! Responses contain no secret of a session, so their compressed size reveals none (BREACH).

use std::io::{Read, Write};

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt;

use crate::admission::Shared;

/// Minimum size for compression, in bytes. Compression hardly shrinks smaller texts.
const MIN_BYTES: u64 = 500;
/// Size in bytes from which another thread compresses a response, so that it delays no other request.
const LARGE_BYTES: usize = 64 * 1024;

/// A text that is the same for all clients. It is in memory once, plain and compressed.
#[derive(Debug)]
pub(crate) struct SharedText {
    plain: Bytes,
    gzip: Option<Bytes>,
}

impl SharedText {
    pub(crate) fn new(plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let is_small = (plain.len() as u64) < MIN_BYTES;
        let gzip = if is_small { None } else { gzip(&plain, Compression::best()) };
        Self { gzip: gzip.map(Bytes::from), plain }
    }

    /// Returns the text of a file that the program embeds compressed.
    pub(crate) fn from_gzip(gzip: &'static [u8]) -> std::io::Result<Self> {
        let mut plain = Vec::new();
        GzDecoder::new(gzip).read_to_end(&mut plain)?;
        Ok(Self { plain: plain.into(), gzip: Some(Bytes::from_static(gzip)) })
    }

    /// Returns the response for a client with these request headers.
    pub(crate) fn response(&self, headers: &HeaderMap, content_type: &'static str) -> Response {
        let (mut response, is_compressed) = match &self.gzip {
            Some(gzip) if takes_gzip(headers) => (gzip.clone().into_response(), true),
            _ => (self.plain.clone().into_response(), false),
        };
        response.extensions_mut().insert(Shared);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        mark(&mut response, is_compressed);
        response
    }
}

/// Compresses the text of a response. Leaves out event streams, files that are already compressed, and small texts. The
/// ETag stays the same: it is the version of the resource, which clients send back in `If-Match`.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let takes_gzip = takes_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_compressible(&response) {
        return response;
    }
    if !takes_gzip {
        mark(&mut response, false);
        return response;
    }
    let (parts, body) = response.into_parts();
    // The body is in memory already: its size is known.
    let Ok(plain) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return crate::problem::Problem::internal("a response in memory cannot be read").into_response();
    };
    let compressed = gzip_in_time(plain.clone()).await;
    let is_compressed = compressed.is_some();
    let mut response = Response::from_parts(parts, Body::from(compressed.map_or(plain, Bytes::from)));
    mark(&mut response, is_compressed);
    response
}

/// True for a text of a known size that is worth compressing.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_text = essence.starts_with("text/")
        || essence.ends_with("json")
        || matches!(essence, "image/svg+xml" | "application/javascript");
    is_text
        && essence != "text/event-stream"
        && !headers.contains_key(CONTENT_ENCODING)
        && response.extensions().get::<Shared>().is_none()
        && response.body().size_hint().exact().is_some_and(|bytes| bytes >= MIN_BYTES)
}

fn mark(response: &mut Response, is_compressed: bool) {
    let headers = response.headers_mut();
    headers.entry(VARY).or_insert(HeaderValue::from_static("Accept-Encoding"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.remove(CONTENT_LENGTH);
    }
}

async fn gzip_in_time(plain: Bytes) -> Option<Vec<u8>> {
    if plain.len() < LARGE_BYTES {
        return gzip(&plain, Compression::fast());
    }
    tokio::task::spawn_blocking(move || gzip(&plain, Compression::fast())).await.ok()?
}

/// Returns the compressed text; `None` if it would not be smaller.
fn gzip(plain: &[u8], level: Compression) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing into memory does not fail. If it failed, the service would serve the plain text.
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().filter(|compressed| compressed.len() < plain.len())
}

/// True if the client accepts gzip. `gzip;q=0` refuses it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| {
        let (coding, weight) = one.split_once(';').unwrap_or((one, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0));
        coding.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}
