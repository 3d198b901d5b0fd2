//! `GET /docs`: embedded Swagger UI for the OpenAPI document. The page loads no other host.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};
use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use utoipa_swagger_ui::{Config, serve};

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
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>API - Workshop Launcher</title>\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"stylesheet\" href=\"{files}/swagger-ui.css\"></head><body><div id=\"swagger-ui\"></div>\
         <noscript>This page needs scripts. The document is at <a href=\"{base}/openapi.json\">openapi.json</a>.\
         </noscript><script src=\"{files}/swagger-ui-bundle.js\"></script>\
         <script src=\"{files}/start.js\"></script></body></html>",
        base = state.settings.base_path
    );
    ([(CONTENT_SECURITY_POLICY, POLICY)], Html(page)).into_response()
}

/// Serves a file of Swagger UI.
pub(crate) async fn file(
    State(state): State<AppState>,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match file.as_str() {
        "start.js" => Ok(([(CONTENT_TYPE, JAVASCRIPT)], start(&state)).into_response()),
        "swagger-ui.css" => Ok(embedded(&STYLE)?.response(&headers, "text/css; charset=utf-8")),
        "swagger-ui-bundle.js" => Ok(embedded(&SCRIPT)?.response(&headers, JAVASCRIPT)),
        _ => Err(Problem::not_found()),
    }
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of Swagger UI, up to 1.5 MB. It is in memory once for all requests.
type File = LazyLock<Result<Option<SharedText>, String>>;

static STYLE: File = LazyLock::new(|| load("swagger-ui.css"));
static SCRIPT: File = LazyLock::new(|| load("swagger-ui-bundle.js"));

fn load(file: &str) -> Result<Option<SharedText>, String> {
    let found = serve(file, Arc::new(Config::default())).map_err(|error| error.to_string())?;
    Ok(found.map(|file| match file.bytes {
        Cow::Borrowed(embedded) => SharedText::new(Bytes::from_static(embedded)),
        // A development build reads the file from disk instead of embedding it.
        Cow::Owned(read) => SharedText::new(read),
    }))
}

fn embedded(file: &'static File) -> Result<&'static SharedText, Problem> {
    let found = file.as_ref().map_err(|error| Problem::internal(error.clone()))?;
    found.as_ref().ok_or_else(|| Problem::internal("Swagger UI is not embedded"))
}

fn start(state: &AppState) -> String {
    format!(
        "SwaggerUIBundle({{ url: \"{}/openapi.json\", dom_id: \"#swagger-ui\", deepLinking: true, \
         validatorUrl: null }});\n",
        state.settings.base_path
    )
}
