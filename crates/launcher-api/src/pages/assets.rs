//! The files that pages load: embedded in the program, addressed by their content, so that a browser keeps them for
//! ever and still never shows an old one.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// One embedded file.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its name without the hash.
    stem: &'static str,
    extension: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    hash: LazyLock<String>,
}

macro_rules! asset {
    ($path:literal, $stem:literal, $extension:literal, $content_type:literal) => {
        Asset {
            stem: $stem,
            extension: $extension,
            content_type: $content_type,
            bytes: include_bytes!(concat!("../../assets/", $path)),
            hash: LazyLock::new(|| hash(include_bytes!(concat!("../../assets/", $path)))),
        }
    };
}

/// The style sheet.
pub(crate) static STYLE: Asset = asset!("app.css", "app", "css", "text/css; charset=utf-8");
/// The pages' own script.
pub(crate) static SCRIPT: Asset = asset!("app.js", "app", "js", "text/javascript; charset=utf-8");
/// htmx.
pub(crate) static HTMX: Asset = asset!("vendor/htmx.min.js", "htmx", "js", "text/javascript; charset=utf-8");
/// htmx's extension for event streams.
pub(crate) static HTMX_SSE: Asset = asset!("vendor/hx-sse.min.js", "hx-sse", "js", "text/javascript; charset=utf-8");
/// The icon.
pub(crate) static ICON: Asset = asset!("icon.svg", "icon", "svg", "image/svg+xml");

static ALL: [&Asset; 5] = [&STYLE, &SCRIPT, &HTMX, &HTMX_SSE, &ICON];

/// The first 64 bits of the content's SHA-256, in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl Asset {
    fn file_name(&self) -> String {
        format!("{}.{}.{}", self.stem, *self.hash, self.extension)
    }

    /// Where it is served.
    pub(crate) fn url(&self) -> String {
        format!("/assets/{}", self.file_name())
    }
}

/// `GET /assets/{file}`: the file with the content that its name promises, or 404.
pub(crate) async fn serve(Path(file): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ALL.into_iter().find(|asset| asset.file_name() == file) else {
        return Problem::not_found().into_response();
    };
    let etag = format!("\"{}\"", *asset.hash);
    let unchanged = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let mut response = if unchanged { StatusCode::NOT_MODIFIED.into_response() } else { asset.bytes.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}
