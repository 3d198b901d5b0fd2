//! The trace of a workshop's start, from the launch request to the ready pod.
//!
//! Several processes take part in a start: one replica serves the launch request, another replica may dispatch the
//! instance, and the operator observes the pod. These processes pass no trace context to each other. Instead, each
//! process derives the trace ID from the workshop's name. A link connects the trace of the request with the trace of
//! the start.
//!
//! All spans go to the global tracer. If no tracer is installed, recording a span costs almost nothing.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue, global};
use sha2::{Digest, Sha256};

/// Instrumentation scope of the spans.
const SCOPE: &str = "workshop-launcher";
/// Minimum duration of a span. Tracing backends show a span without a duration as an error.
const SHORTEST: Duration = Duration::from_micros(1);

/// The trace of the start of one workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartTrace {
    trace_id: TraceId,
    /// ID of the root span, which covers the whole start. It is the parent of all other spans.
    root: SpanId,
}

/// Start time and end time of a span.
pub type Times = (Timestamp, Timestamp);

impl StartTrace {
    /// Returns the trace for the start of the workshop with this name. Each name has a different trace.
    #[must_use]
    pub fn of(k8s_name: &str) -> Self {
        let digest = Sha256::digest(format!("workshop start\n{k8s_name}"));
        let (mut trace_id, mut root) = ([0; 16], [0; 8]);
        trace_id.copy_from_slice(&digest[..16]);
        root.copy_from_slice(&digest[16..24]);
        Self { trace_id: TraceId::from_bytes(trace_id), root: SpanId::from_bytes(root) }
    }

    /// Returns the trace whose root span [`StartTrace::record_start`] is creating now. The ID generator then uses the
    /// trace's IDs instead of random ones.
    #[must_use]
    pub fn pending_root() -> Option<Self> {
        Context::current().get::<Self>().copied()
    }

    /// Returns the trace ID, with which users find the trace in the tracing backend.
    #[must_use]
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Returns the ID of the root span.
    #[must_use]
    pub fn root(&self) -> SpanId {
        self.root
    }

    /// Records the root span after the start has succeeded or failed. `failure` is the reason if it failed.
    pub fn record_start(&self, times: Times, attributes: Vec<KeyValue>, failure: Option<&str>) {
        let empty = Context::new();
        let pending = empty.with_value(*self).attach();
        let span = global::tracer(SCOPE)
            .span_builder("start")
            .with_start_time(SystemTime::from(times.0))
            .with_attributes(attributes)
            .start_with_context(&global::tracer(SCOPE), &empty);
        drop(pending);
        // The last step may begin when the root span ends. Add the minimum duration, so that the root span contains it.
        end(span, end_of(times) + SHORTEST, failure);
    }

    /// Records a step of the start after it has succeeded or failed. `failure` is the reason if it failed.
    pub fn record_step(&self, name: &'static str, times: Times, failure: Option<&str>) {
        let tracer = global::tracer(SCOPE);
        let span = tracer.span_builder(name).with_start_time(SystemTime::from(times.0));
        end(span.start_with_context(&tracer, &self.parent()), end_of(times), failure);
    }

    /// Records that the current request has launched the workshop. Links the trace of the request and this trace.
    pub fn record_launch(&self, times: Times) {
        let request = Context::current();
        let tracer = global::tracer(SCOPE);
        let mut span = tracer.span_builder("launch").with_start_time(SystemTime::from(times.0));
        let asked = request.span().span_context().clone();
        // Link only to a sampled request, because the trace of an unsampled request is not recorded.
        if asked.is_valid() && asked.is_sampled() {
            span = span.with_links(vec![Link::with_context(asked)]);
            request.span().add_link(self.root_context(), Vec::new());
        }
        end(span.start_with_context(&tracer, &self.parent()), end_of(times), None);
    }

    fn parent(&self) -> Context {
        Context::new().with_remote_span_context(self.root_context())
    }

    fn root_context(&self) -> SpanContext {
        SpanContext::new(self.trace_id, self.root, TraceFlags::SAMPLED, true, TraceState::default())
    }
}

/// Starts the span of an HTTP request, and returns the context in which its handler runs. `parent` is the trace context
/// from the request's headers. `name` is the method and the route. It must not contain text from the client.
#[must_use]
pub fn start_request_span(parent: &Context, name: String, attributes: Vec<KeyValue>) -> Context {
    let tracer = global::tracer(SCOPE);
    let span = tracer.span_builder(name).with_kind(SpanKind::Server).with_attributes(attributes);
    parent.with_span(span.start_with_context(&tracer, parent))
}

fn end_of(times: Times) -> SystemTime {
    SystemTime::from(times.1).max(SystemTime::from(times.0) + SHORTEST)
}

fn end(mut span: impl opentelemetry::trace::Span, at: SystemTime, failure: Option<&str>) {
    if let Some(failure) = failure {
        span.set_status(Status::error(failure.to_owned()));
    }
    span.end_with_timestamp(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_id_is_the_same_for_each_process_and_differs_between_workshops() {
        let trace = StartTrace::of("rstudio-x7k2q9d4mp");
        assert_eq!(trace, StartTrace::of("rstudio-x7k2q9d4mp"));
        assert_ne!(trace.trace_id(), StartTrace::of("rstudio-x7k2q9d4mq").trace_id());
        assert_ne!(trace.trace_id(), TraceId::INVALID);
        assert_ne!(trace.root(), SpanId::INVALID);
    }
}
