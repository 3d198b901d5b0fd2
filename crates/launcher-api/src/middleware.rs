//! The complete list of middleware of the API and the pages, in order, and the renderer of problems.

use std::any::Any;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderName, HeaderValue};
use launcher_domain::messages::ErrorChain;
use tower_http::catch_panic::CatchPanicLayer;

use crate::pages::Asked;
use crate::problem::{PROBLEM_JSON, Problem, ProblemDocument};
use crate::request_id::RequestId;
use crate::state::AppState;
use crate::{admission, body, compression, guard, identity, request_id};

/// Wraps a router in all middleware. A request passes the list from bottom to top, its response from top to bottom.
pub(crate) fn apply(router: Router, state: &AppState) -> Router {
    let with = || state.clone();
    router
        // Compresses the responses of handlers: the admission then counts the bytes that are kept until they are sent.
        .layer(from_fn(compression::compress))
        .layer(from_fn_with_state(with(), admission::admit))
        .layer(from_fn_with_state(with(), guard::reject_cross_site))
        .layer(from_fn_with_state(with(), identity::require))
        .layer(from_fn_with_state(with(), guard::reject_unknown_host))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(with(), render))
        // Compresses the documents and pages of problems. All other texts are compressed already.
        .layer(from_fn(compression::compress))
        .layer(from_fn(body::bounded))
        .layer(from_fn_with_state(with(), add_security_headers))
        .layer(from_fn_with_state(with(), request_id::assign))
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref().cloned());
    Problem::internal(format!("a handler panicked: {}", message.unwrap_or_default())).into_response()
}

/// Security headers for responses that do not set their own.
const DEFAULTS: [(HeaderName, HeaderValue); 7] = [
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Tells browsers to use only HTTPS for one year. Excludes subdomains, because they may not belong to the service.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

async fn add_security_headers(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if state.settings.is_https() {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HSTS);
    }
    for (name, value) in DEFAULTS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// Writes the body of a problem, and logs its internal cause. An error outside of the API becomes a page.
async fn render(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_default();
    let asked = if state.settings.is_api(request.uri().path()) { None } else { Some(Asked::of(&request)) };
    let mut response = next.run(request).await;
    let problem = response.extensions_mut().remove::<Problem>();
    if let Some((problem, cause)) = problem.as_ref().and_then(|problem| Some((problem, problem.cause()?))) {
        tracing::error!(code = problem.code.as_str(), cause = %ErrorChain(cause), "request failed, answering with an error");
    }
    if let Some(asked) = asked {
        return asked.answer(&state, response, problem, request_id.as_str());
    }
    let Some(problem) = problem else { return response };
    let document = ProblemDocument::new(&problem, &state.settings.base_path, request_id.as_str());
    let body = serde_json::to_vec(&document).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    // Remove the length of the empty body that the problem document replaces.
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}
