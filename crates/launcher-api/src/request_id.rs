//! The request id: it is in the response, in problem documents, and in every log entry of the request. This middleware
//! also measures the response time, and starts the span of the request within the trace that the ingress started.

use std::borrow::Cow;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use launcher_domain::Entropy;
use launcher_domain::clock::random_hex;
use opentelemetry::propagation::Extractor;
use opentelemetry::trace::{FutureExt, Status, TraceContextExt};
use opentelemetry::{Context, KeyValue, global};
use tokio::time::Instant;
use tracing::Instrument;

use crate::metrics::RequestLabels;
use crate::state::AppState;

/// Header that contains the request id, in requests and responses.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 64;
const RANDOM_BYTES: usize = 12;

/// A request id: 1–64 letters, digits, dots, dashes and underscores.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestId(String);

impl RequestId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id that the request's header contains if it is valid, else a random id. The layer of `tower-http` keeps
    /// every id of a client.
    fn of(headers: &HeaderMap, entropy: &dyn Entropy) -> Self {
        let requested = headers.get(X_REQUEST_ID).and_then(|value| value.to_str().ok()).filter(|id| is_valid(id));
        Self(requested.map_or_else(|| random_hex::<RANDOM_BYTES>(entropy), str::to_owned))
    }
}

fn is_valid(id: &str) -> bool {
    let sane = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=LONGEST).contains(&id.len()) && id.bytes().all(sane)
}

pub(crate) async fn assign(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers(), state.launcher.entropy());
    let span = tracing::info_span!(
        "request",
        request_id = id.as_str(),
        method = %request.method(),
        path = %logged(request.uri().path())
    );
    let value = HeaderValue::from_str(id.as_str());
    let (begun, labels) = (Instant::now(), RequestLabels::of(&request));
    let context = begin_span(request.headers(), &labels, id.as_str());
    request.extensions_mut().insert(id);
    let mut response = async {
        let response = next.run(request).with_context(context.clone()).await;
        end_span(&context, response.status());
        let took = begun.elapsed();
        let elapsed_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        state.process.metrics.record_response(labels, response.status(), took);
        tracing::info!(status = response.status().as_u16(), elapsed_ms, "request answered");
        response
    }
    .instrument(span)
    .await;
    if let Ok(value) = value {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// Returns a path for the log. The code of a join link is a secret: the log omits it.
fn logged(path: &str) -> Cow<'_, str> {
    match path.rsplit_once("/join/") {
        Some((before, code)) if !code.is_empty() => format!("{before}/join/[code]").into(),
        _ => path.into(),
    }
}

const TRACEPARENT: &str = "traceparent";

/// Passes on only `traceparent` of a trace context. The other header, `tracestate`, could contain any text of a client.
struct Headers<'r>(&'r HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).filter(|_| key == TRACEPARENT)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

/// Starts the span of a request. Its attributes contain neither the path nor the caller.
fn begin_span(headers: &HeaderMap, labels: &RequestLabels, request_id: &str) -> Context {
    let parent = global::get_text_map_propagator(|propagator| {
        propagator.extract_with_context(&Context::new(), &Headers(headers))
    });
    // Unknown methods and paths follow OpenTelemetry's conventions: method `_OTHER`, name `HTTP`, and no route.
    let mut attributes = vec![
        KeyValue::new("http.request.method", labels.method().unwrap_or("_OTHER")),
        KeyValue::new("request_id", request_id.to_owned()),
    ];
    let mut name = labels.method().unwrap_or("HTTP").to_owned();
    if let Some(route) = labels.route() {
        attributes.push(KeyValue::new("http.route", route.to_owned()));
        name = format!("{name} {route}");
    }
    launcher_trace::start_request_span(&parent, name, attributes)
}

/// Ends the span with the status of the response. The span of an event stream ends when its response begins.
fn end_span(traced: &Context, status: StatusCode) {
    let span = traced.span();
    span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
    if status.is_server_error() {
        span.set_status(Status::error(status.canonical_reason().unwrap_or_default()));
    }
    span.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_omits_the_code_of_a_join_link() {
        for (path, told) in [
            ("/join/a7k3m-9qz2x", "/join/[code]"),
            ("/api/v1/join/a7k3m-9qz2x/", "/api/v1/join/[code]"),
            ("/join", "/join"),
            ("/classes/statistics/join-link", "/classes/statistics/join-link"),
        ] {
            assert_eq!(logged(path), told);
        }
    }
}
