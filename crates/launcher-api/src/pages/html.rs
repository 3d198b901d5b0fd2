//! From a template to a response, and what every page needs for it.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use launcher_domain::Caller;

use super::view::{Person, Shell};
use crate::problem::Problem;
use crate::state::AppState;

/// What a page's handler gives.
pub(crate) type PageResult = Result<Response, Problem>;

/// What a page may load and do: files, forms and requests of this site. Nothing inline, so a name or a description that
/// somebody wrote cannot become a script or a style whatever happens.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page that nobody but its reader may keep: it shows what is theirs, and its forms carry keys for one use.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> PageResult {
    let html = template.render().map_err(Problem::internal)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        // The same address answers htmx with a part of the page.
        (header::VARY, HeaderValue::from_static("HX-Request")),
    ];
    Ok((status, headers, html).into_response())
}

/// The frame around a caller's page.
pub(crate) fn shell(state: &AppState, caller: &Caller, here: &'static str) -> Shell {
    Shell {
        person: Person { email: caller.email().to_string(), is_admin: caller.is_admin() },
        logout_url: state.settings.logout_url.clone(),
        dev_identity: state.settings.dev_identity.as_ref().map(ToString::to_string),
        warns_of_sharing: state.settings.shares_one_user && caller.is_admin() && here.starts_with("admin"),
        here,
    }
}

/// Whether htmx asks, and wants the part of the page that it swaps.
pub(crate) fn is_htmx(headers: &HeaderMap) -> bool {
    headers.get("hx-request").is_some_and(|value| value == "true")
}
