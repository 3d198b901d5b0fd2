//! `GET /problems`: the page to which the `type` of a problem points.

use std::sync::LazyLock;

use axum::response::Response;
use http::HeaderMap;

use crate::compression::SharedText;
use crate::problem::reference;

/// Read the reference of problems
#[utoipa::path(
    get, path = "/problems", operation_id = "readProblems", tag = "reference",
    responses((status = 200, description = "Each code, with its cause and remedy.", body = String,
        content_type = "text/html")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn read_problems(headers: HeaderMap) -> Response {
    static PAGE: LazyLock<SharedText> = LazyLock::new(|| SharedText::new(page()));
    PAGE.response(&headers, "text/html; charset=utf-8")
}

fn page() -> String {
    let reference = reference();
    let options = pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_HEADING_ATTRIBUTES;
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Problems</title>\
         <meta name=\"viewport\" content=\"width=device-width\"></head><body>",
    );
    // The heading of each section is the code of a problem. The code is also the anchor of the section.
    let anchored: String = reference.lines().map(|line| anchored(line) + "\n").collect();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new_ext(&anchored, options));
    html.push_str("</body></html>");
    html
}

fn anchored(line: &str) -> String {
    match line.strip_prefix("## ") {
        Some(code) => format!("## {code} {{#{code}}}"),
        None => line.to_owned(),
    }
}
