//! The frame of the HTML documents of the API. They look like the pages, and load the style sheet of the pages.

use axum::response::{Html, IntoResponse, Response};
use http::header::CONTENT_SECURITY_POLICY;

use crate::pages::assets::{ICON, STYLE};
use crate::state::AppState;

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
        let (icon, style) = (ICON.url(), STYLE.url());
        let docs_style = state.api_path("/docs/docs.css");
        let links = self.links(state);
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <title>{title} - Workshop Launcher</title><meta name=\"color-scheme\" content=\"light dark\">\
             <link rel=\"icon\" type=\"image/svg+xml\" href=\"{icon}\">{head}<link rel=\"stylesheet\" href=\"{style}\">\
             <link rel=\"stylesheet\" href=\"{docs_style}\"></head><body>\
             <a class=\"skip\" href=\"#main\">Skip to the content</a><header class=\"site-header\"><div class=\"wrap\">\
             <a class=\"brand\" href=\"/\"><img src=\"{icon}\" alt=\"\">Workshop Launcher</a>\
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
