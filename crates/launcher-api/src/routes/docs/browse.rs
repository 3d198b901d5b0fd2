//! `GET /docs`: embedded Swagger UI for the OpenAPI document. The page loads no other host.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use pulldown_cmark::Parser;
use pulldown_cmark::html::push_html;

use super::description::DESCRIPTION;
use super::frame::Document;
use crate::compression::SharedText;
use crate::problem::Problem;
use crate::state::AppState;

/// Content security policy of the page. Swagger UI needs inline styles and `data:` images; all else comes from this
/// origin.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Browse the API
#[utoipa::path(
    get, path = "/docs", operation_id = "browseApi", tag = "reference",
    responses((status = 200, description = "A page to browse and try the API.", body = String,
        content_type = "text/html")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn browse_api(State(state): State<AppState>) -> Response {
    let files = state.api_path("/docs");
    let mut main = String::from("<div class=\"reference\"><h1>API</h1>");
    push_html(&mut main, Parser::new(DESCRIPTION));
    // Writing to a String does not fail.
    let _ = write!(
        main,
        "<p>For programs: <a href=\"{document}\">openapi.json</a></p></div><h2>Operations</h2>\
         <noscript><p>The list of operations needs scripts.</p></noscript>\
         <div id=\"swagger-ui\" data-url=\"{document}\"></div>",
        document = state.api_path("/openapi.json")
    );
    let document = Document {
        path: "/docs",
        title: "API",
        head: &format!("<link rel=\"stylesheet\" href=\"{files}/swagger-ui.css\">"),
        main: &main,
        scripts: &format!(
            "<script src=\"{files}/swagger-ui-bundle.js\"></script><script src=\"{files}/start.js\"></script>"
        ),
        content_policy: POLICY,
    };
    document.respond(&state)
}

/// Serves a file of the documents.
pub(crate) async fn file(Path(file): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    match file.as_str() {
        "docs.css" => Ok(([(CONTENT_TYPE, CSS)], include_str!("files/docs.css")).into_response()),
        "start.js" => Ok(([(CONTENT_TYPE, JAVASCRIPT)], include_str!("files/start.js")).into_response()),
        "swagger-ui.css" => Ok(embedded(&STYLE)?.response(&headers, CSS)),
        "swagger-ui-bundle.js" => Ok(embedded(&SCRIPT)?.response(&headers, JAVASCRIPT)),
        _ => Err(Problem::not_found()),
    }
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of Swagger UI, up to 1.5 MB. It is in memory once for all requests.
type File = LazyLock<std::io::Result<SharedText>>;

static STYLE: File =
    LazyLock::new(|| SharedText::from_gzip(include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz"))));
static SCRIPT: File =
    LazyLock::new(|| SharedText::from_gzip(include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz"))));

fn embedded(file: &'static File) -> Result<&'static SharedText, Problem> {
    file.as_ref().map_err(|error| Problem::internal(error.to_string()))
}
