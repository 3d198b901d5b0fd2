//! `GET /problems`: the page to which the `type` of a problem points.

use std::sync::LazyLock;

use axum::extract::State;
use axum::response::Response;

use super::frame::Document;
use crate::problem::reference;
use crate::state::AppState;

/// Content security policy of the page: only the style sheets and the icon of this origin.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'";

const TABLE: &str =
    "<div class=\"table-wrap\" role=\"region\" aria-label=\"Members\" tabindex=\"0\"><table class=\"data\">";

/// Read the reference of problems
#[utoipa::path(
    get, path = "/problems", operation_id = "readProblems", tag = "reference",
    responses((status = 200, description = "Each code, with its cause and remedy.", body = String,
        content_type = "text/html")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn read_problems(State(state): State<AppState>) -> Response {
    static REFERENCE: LazyLock<String> = LazyLock::new(render_reference);
    let document = Document {
        path: "/problems",
        title: "Problems",
        head: "",
        main: &REFERENCE,
        scripts: "",
        content_policy: POLICY,
    };
    document.respond(&state)
}

fn render_reference() -> String {
    let options = pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_HEADING_ATTRIBUTES;
    let mut html = String::from("<div class=\"reference\">");
    // The heading of each section is the code of a problem. The code is also the anchor of the section.
    let anchored: String = reference().lines().map(|line| anchored(line) + "\n").collect();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new_ext(&anchored, options));
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
