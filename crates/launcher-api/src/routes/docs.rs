//! The documents of the API: OpenAPI, its page, and the reference of problems.

use std::fmt::Write;
use std::sync::LazyLock;

use askama::filters::{Html as HtmlText, escape};
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};
use http::HeaderMap;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{Options, Parser};
use utoipa_axum::routes;

use crate::assets::{CSS, JAVASCRIPT};
use crate::brand::Brand;
use crate::compression::SharedText;
use crate::problem::{Problem, REFERENCE};
use crate::routes::Routes;
use crate::state::AppState;

pub(super) fn routes() -> Routes {
    vec![routes!(read_openapi), routes!(browse_api), routes!(read_problems)]
}

/// Read the OpenAPI document
#[utoipa::path(get, path = "/openapi.json", operation_id = "readOpenapi", tag = "reference",
    responses((status = 200, description = "This document.", body = Object, content_type = "application/json")))]
pub(crate) async fn read_openapi(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.openapi.response(&headers, "application/json")
}

/// Description of the API, in Markdown.
pub(crate) const DESCRIPTION: &str = "Launches short-lived workshops from a shared catalog.\n\nBodies are JSON in snake_case. Times are RFC 3339 in UTC, \
     durations are in seconds. Each path works with and without a trailing slash. HEAD works wherever GET does. Lists are \
     arrays, newest first. If more entries exist, the header `Link` has the next page (`rel=\"next\"`). Errors are problem \
     documents (RFC 9457); see `/problems`. Every response has the request's id in `X-Request-Id`.";

/// Content security policy of the page. Swagger UI needs inline styles and `data:` images; all else comes from this
/// origin.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Browse the API
#[utoipa::path(get, path = "/docs", operation_id = "browseApi", tag = "reference",
    responses((status = 200, description = "A page to browse and try the API.", body = String,
            content_type = "text/html")))]
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
        "docs.css" => Ok(([(CONTENT_TYPE, CSS)], include_str!("docs/files/docs.css")).into_response()),
        "start.js" => Ok(([(CONTENT_TYPE, JAVASCRIPT)], include_str!("docs/files/start.js")).into_response()),
        "swagger-ui.css" => Ok(embedded(&UI_STYLE)?.response(&headers, CSS)),
        "swagger-ui-bundle.js" => Ok(embedded(&UI_SCRIPT)?.response(&headers, JAVASCRIPT)),
        _ => Err(Problem::not_found()),
    }
}

/// A file of Swagger UI, up to 1.5 MB. It is in memory once for all requests.
type File = LazyLock<std::io::Result<SharedText>>;

static UI_STYLE: File =
    LazyLock::new(|| SharedText::from_gzip(include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui.css.gz"))));
static UI_SCRIPT: File =
    LazyLock::new(|| SharedText::from_gzip(include_bytes!(concat!(env!("OUT_DIR"), "/swagger-ui-bundle.js.gz"))));

fn embedded(file: &'static File) -> Result<&'static SharedText, Problem> {
    file.as_ref().map_err(|error| Problem::internal(error.to_string()))
}

/// Content security policy of the page: only the style sheets and the icon of this origin.
const PROBLEMS_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'";

const TABLE: &str =
    "<div class=\"table-wrap\" role=\"region\" aria-label=\"Members\" tabindex=\"0\"><table class=\"data\">";

/// Read the reference of problems
#[utoipa::path(get, path = "/problems", operation_id = "readProblems", tag = "reference",
    responses((status = 200, description = "Each code, with its cause and remedy.", body = String,
            content_type = "text/html")))]
pub(crate) async fn read_problems(State(state): State<AppState>) -> Response {
    static RENDERED: LazyLock<String> = LazyLock::new(render_reference);
    let document = Document {
        path: "/problems",
        title: "Problems",
        head: "",
        main: &RENDERED,
        scripts: "",
        content_policy: PROBLEMS_POLICY,
    };
    document.respond(&state)
}

fn render_reference() -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut html = String::from("<div class=\"reference\">");
    // The heading of each section is the code of a problem. The code is also the anchor of the section.
    let anchored: String = REFERENCE.lines().map(|line| anchored(line) + "\n").collect();
    push_html(&mut html, Parser::new_ext(&anchored, options));
    html.push_str("</div>");
    // A narrow window scrolls the table instead of the page.
    html.replace("<table>", TABLE).replace("</table>", "</table></div>")
}

fn anchored(line: &str) -> String {
    match line.strip_prefix("## ") {
        Some(code) => format!("## {code} {{#{code}}}"),
        None => line.to_owned(),
    }
}

/// Paths of the documents below the base path, and their names in the navigation.
const DOCUMENTS: [(&str, &str); 2] = [("/docs", "API"), ("/problems", "Problems")];

/// An HTML document of the API. All fields except `path` and `title` are HTML.
pub(super) struct Document<'a> {
    /// Path of the document below the base path.
    pub(super) path: &'a str,
    pub(super) title: &'a str,
    /// Elements of the head that only this document needs. They come before the style sheets of the pages.
    pub(super) head: &'a str,
    pub(super) main: &'a str,
    /// Scripts, at the end of the body.
    pub(super) scripts: &'a str,
    pub(super) content_policy: &'static str,
}

impl Document<'_> {
    /// Renders the document, with its content security policy.
    pub(super) fn respond(&self, state: &AppState) -> Response {
        let Self { title, head, main, scripts, content_policy, .. } = self;
        let Brand { style, icon, .. } = &*state.brand;
        let Ok(name) = escape(state.brand.name_or("Workshop Launcher".into()), HtmlText);
        let (icon, style, media) = (icon.url(), style.url(), icon.content_type);
        let docs_style = state.api_path("/docs/docs.css");
        let links = self.links(state);
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{title} - {name}</title><meta name=\"color-scheme\" content=\"light dark\">\
             <link rel=\"icon\" type=\"{media}\" href=\"{icon}\">{head}<link rel=\"stylesheet\" href=\"{style}\">\
             <link rel=\"stylesheet\" href=\"{docs_style}\"></head><body>\
             <a class=\"skip\" href=\"#main\">Skip to the content</a><header class=\"site-header\"><div class=\"wrap\">\
             <a class=\"brand\" href=\"/\"><img src=\"{icon}\" alt=\"\">{name}</a>\
             <nav class=\"site-nav\" aria-label=\"Pages\"><ul class=\"plain\"><li><a href=\"/\">Workshops</a></li>{links}\
             </ul></nav></div></header><main id=\"main\" class=\"wrap\" tabindex=\"-1\">{main}</main>{scripts}</body>\
             </html>"
        );
        ([(CONTENT_SECURITY_POLICY, *content_policy)], Html(html)).into_response()
    }

    fn links(&self, state: &AppState) -> String {
        let link = |(path, name)| {
            let current = if path == self.path { " aria-current=\"page\"" } else { "" };
            format!("<li><a href=\"{}\"{current}>{name}</a></li>", state.api_path(path))
        };
        DOCUMENTS.map(link).concat()
    }
}
