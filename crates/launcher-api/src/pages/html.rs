//! Renders templates to responses, with the frame and headers that every page needs.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use launcher_domain::local_path::LocalPath;

use crate::problem::Problem;

pub(crate) type PageResult = Result<Response, Problem>;

/// Content security policy of pages. It allows only files, forms and requests of this site, and nothing inline. Text
/// that a user wrote can therefore never become a script or a style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn page(template: &impl Template) -> PageResult {
    page_with(StatusCode::OK, template)
}

/// Renders a page. Caches must not store it, because it contains the caller's data and single-use form keys.
pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> PageResult {
    let html = template.render().map_err(Problem::internal)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // The same URL returns the whole page to a browser, and a part of the page to htmx, each in the reader's language.
        (header::VARY, HeaderValue::from_static("HX-Request, Accept-Encoding, Accept-Language, Cookie")),
    ];
    Ok((status, headers, html).into_response())
}

/// Makes htmx open a page of this site. htmx does not show the target of a redirect as a page: it inserts the target
/// into the current page.
pub(crate) fn htmx_redirect(path: &LocalPath) -> Response {
    // A local path contains only visible ASCII characters, which are valid in a header.
    let path = HeaderValue::from_str(path.as_str()).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::OK, [(HeaderName::from_static("hx-redirect"), path)]).into_response()
}

/// Makes htmx load the current page again, so that the browser follows a redirect of this page.
pub(crate) fn htmx_reload() -> Response {
    (StatusCode::OK, [(HeaderName::from_static("hx-refresh"), HeaderValue::from_static("true"))]).into_response()
}
