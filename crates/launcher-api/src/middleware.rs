//! What every request passes, in order. There is no other list.

use std::any::Any;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderName, HeaderValue};
use tower_http::catch_panic::CatchPanicLayer;

use crate::problem::Problem;
use crate::state::AppState;
use crate::{body, guard, identity, problem, request_id};

/// The largest body, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 256 * 1024;

/// Puts the middleware around a router. A request passes the list from the bottom up, its answer from the top down.
pub(crate) fn around(router: Router, state: &AppState) -> Router {
    let with = || state.clone();
    router
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(with(), guard::cross_site))
        .layer(from_fn_with_state(with(), identity::require))
        .layer(from_fn_with_state(with(), guard::known_host))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(with(), problem::render))
        .layer(from_fn_with_state(with(), problem::pages_elsewhere))
        .layer(from_fn(body::bounded))
        .layer(from_fn(harden))
        .layer(from_fn_with_state(with(), request_id::assign))
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref().cloned());
    Problem::internal(format!("a handler panicked: {}", message.unwrap_or_default())).into_response()
}

/// What an answer allows a browser, unless it says so itself: nothing.
const DEFAULTS: [(HeaderName, HeaderValue); 7] = [
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

async fn harden(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in DEFAULTS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}
