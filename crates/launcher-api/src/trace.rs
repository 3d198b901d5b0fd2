//! The span of a request, within the trace that the ingress started.

use http::{HeaderMap, StatusCode};
use opentelemetry::propagation::Extractor;
use opentelemetry::trace::{Status, TraceContextExt};
use opentelemetry::{Context, KeyValue, global};

use crate::metrics::RequestLabels;

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
pub(crate) fn begin(headers: &HeaderMap, labels: &RequestLabels, request_id: &str) -> Context {
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
pub(crate) fn end(traced: &Context, status: StatusCode) {
    let span = traced.span();
    span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
    if status.is_server_error() {
        span.set_status(Status::error(status.canonical_reason().unwrap_or_default()));
    }
    span.end();
}
