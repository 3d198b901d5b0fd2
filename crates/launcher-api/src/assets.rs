//! Files that pages load, and the icons within pages. The files are embedded in the program, and their names contain a
//! hash of their content. Browsers can therefore cache a file for ever, and never show an old version.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use launcher_domain::template::Icon;
use sha2::{Digest, Sha256};

use crate::compression::SharedText;
use crate::problem::Problem;
use crate::state::AppState;

#[derive(Debug)]
pub(crate) struct Asset {
    stem: &'static str,
    extension: &'static str,
    pub(crate) content_type: &'static str,
    text: SharedText,
    hash: String,
}

pub(crate) const STYLE: &[u8] = include_bytes!("../assets/app.css");
pub(crate) const ICON: &[u8] = include_bytes!("../assets/icon.svg");
pub(crate) const CSS: &str = "text/css; charset=utf-8";
pub(crate) const SVG: &str = "image/svg+xml";
pub(crate) const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// htmx, its extension for event streams, and the pages' own scripts. They are one file because htmx starts when it
/// loads, and would ignore an extension that loads later.
pub(crate) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let parts: [&[u8]; 4] = [
        include_bytes!("../assets/vendor/htmx.min.js"),
        include_bytes!("../assets/vendor/hx-sse.min.js"),
        include_bytes!("../assets/app.js"),
        include_bytes!("../assets/ticks.js"),
    ];
    // Separates the parts, because a script may lack a line break or a semicolon at its end.
    Asset::new("app", "js", JAVASCRIPT, parts.join(&b"\n;\n"[..]))
});
pub(crate) static EXTEND_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("extend", "js", JAVASCRIPT, include_bytes!("../assets/extend.js").to_vec()));

/// Returns the first 64 bits of the content's SHA-256, in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl Asset {
    pub(crate) fn new(
        stem: &'static str,
        extension: &'static str,
        content_type: &'static str,
        content: Vec<u8>,
    ) -> Self {
        Self { stem, extension, content_type, hash: hash(&content), text: SharedText::new(content) }
    }

    fn file_name(&self) -> String {
        format!("{}.{}.{}", self.stem, self.hash, self.extension)
    }

    pub(crate) fn url(&self) -> String {
        format!("/assets/{}", self.file_name())
    }
}

/// `GET /assets/{file}`: serves the file whose name contains the hash of its content, or 404 for any other name.
pub(crate) async fn serve(State(state): State<AppState>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    let all = [&state.brand.style, &state.brand.icon, &*SCRIPT, &*EXTEND_SCRIPT];
    let Some(asset) = all.into_iter().find(|asset| asset.file_name() == file) else {
        return Problem::not_found().into_response();
    };
    let Asset { text, hash, .. } = asset;
    let mut response = text.response(&headers, asset.content_type);
    let coding = if response.headers().contains_key(header::CONTENT_ENCODING) { "-gzip" } else { "" };
    let etag = format!("\"{hash}{coding}\"");
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
    }
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}

/// Returns the icon of a template: an SVG path for a view box of 24 units. It is drawn with a stroke, without a fill.
pub(crate) fn icon_path(icon: Icon) -> &'static str {
    match icon {
        Icon::Notebook => "M6 3h12v18H6zM10 3v18M3 7h3M3 12h3M3 17h3",
        Icon::Statistics => "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6",
        Icon::Code => "M9 7l-5 5 5 5M15 7l5 5-5 5",
        Icon::Terminal => "M3 5h18v14H3zM7 9l3 3-3 3M12 15h5",
        Icon::Web => "M3 5h18v14H3zM3 9h18M6 7h.01M9 7h.01",
        Icon::Database => "M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0",
        Icon::Chart => "M4 4v16h16M7 15l4-5 3 3 5-7",
        Icon::Globe => "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18",
        Icon::Book => "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
        Icon::Flask => "M9 3h6M10 3v6L4 20h16L14 9V3M7 15h10",
    }
}
