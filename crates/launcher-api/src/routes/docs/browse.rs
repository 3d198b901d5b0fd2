//! `GET /docs`: Swagger UI over the OpenAPI document, embedded, without any other host.

use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use utoipa_swagger_ui::{Config, serve};

use crate::problem::Problem;
use crate::state::AppState;

/// Swagger UI draws with inline styles and embedded images; everything else comes from here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| Arc::new(Config::default()));

/// Browse the API
#[utoipa::path(
    get, path = "/docs", operation_id = "browseApi", tag = "reference",
    responses((status = 200, description = "The document, to browse and try.", body = String,
        content_type = "text/html")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn browse_api(State(state): State<AppState>) -> Response {
    let files = state.api_path("/docs");
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>API - Workshop Launcher</title>\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"stylesheet\" href=\"{files}/swagger-ui.css\"></head><body><div id=\"swagger-ui\"></div>\
         <noscript>This page needs scripts; the document itself is <a href=\"{base}/openapi.json\">openapi.json</a>.\
         </noscript><script src=\"{files}/swagger-ui-bundle.js\"></script>\
         <script src=\"{files}/start.js\"></script></body></html>",
        base = state.settings.base_path
    );
    ([(CONTENT_SECURITY_POLICY, POLICY)], Html(page)).into_response()
}

/// A file of the page above.
pub(crate) async fn file(State(state): State<AppState>, Path(file): Path<String>) -> Result<Response, Problem> {
    let (content_type, bytes) = match file.as_str() {
        "start.js" => ("text/javascript; charset=utf-8", start(&state).into_bytes()),
        "swagger-ui.css" => ("text/css; charset=utf-8", embedded(&file)?),
        "swagger-ui-bundle.js" => ("text/javascript; charset=utf-8", embedded(&file)?),
        _ => return Err(Problem::not_found()),
    };
    Ok(([(CONTENT_TYPE, content_type)], bytes).into_response())
}

fn embedded(file: &str) -> Result<Vec<u8>, Problem> {
    let found = serve(file, CONFIG.clone()).map_err(|error| Problem::internal(error.to_string()))?;
    found.map(|file| file.bytes.into_owned()).ok_or_else(|| Problem::internal("Swagger UI is not embedded"))
}

fn start(state: &AppState) -> String {
    format!(
        "SwaggerUIBundle({{ url: \"{}/openapi.json\", dom_id: \"#swagger-ui\", deepLinking: true, \
         validatorUrl: null }});\n",
        state.settings.base_path
    )
}
