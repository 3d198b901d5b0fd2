//! The trace of a workshop's start, from the launch request to the ready pod.
//!
//! A start outlives its request and continues in other processes: another replica may dispatch it to the fleet, perhaps
//! after a restart, and the operator observes its pod. Therefore no trace context is passed on. Each process derives
//! the trace ID from the workshop's name, and the request is linked to the trace.
//!
//! Spans go to the global tracer. Without an installed tracer, recording costs almost nothing.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue, global};
use sha2::{Digest, Sha256};

/// Instrumentation scope of the spans.
const SCOPE: &str = "workshop-launcher";
/// Minimum length of a span: a span without length looks like a defect.
const SHORTEST: Duration = Duration::from_micros(1);

/// The trace of the start of one workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartTrace {
    trace_id: TraceId,
    /// ID of the span of the whole start, the parent of all others.
    root: SpanId,
}

/// Start and end.
pub type Times = (Timestamp, Timestamp);

impl StartTrace {
    /// Returns the trace of the workshop with this name. No two workshops share one.
    #[must_use]
    pub fn of(k8s_name: &str) -> Self {
        let digest = Sha256::digest(format!("workshop start\n{k8s_name}"));
        let (mut trace_id, mut root) = ([0; 16], [0; 8]);
        trace_id.copy_from_slice(&digest[..16]);
        root.copy_from_slice(&digest[16..24]);
        Self { trace_id: TraceId::from_bytes(trace_id), root: SpanId::from_bytes(root) }
    }

    /// Returns the trace whose root span is being built right now, for the ID generator.
    #[must_use]
    pub fn pending_root() -> Option<Self> {
        Context::current().get::<Self>().copied()
    }

    /// Returns the trace ID, to search for in the tracing backend.
    #[must_use]
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Returns the ID of the span of the whole start.
    #[must_use]
    pub fn root(&self) -> SpanId {
        self.root
    }

    /// Records the whole start, once it has succeeded or failed.
    pub fn record_start(&self, times: Times, attributes: Vec<KeyValue>, failure: Option<&str>) {
        let empty = Context::new();
        let pending = empty.with_value(*self).attach();
        let span = global::tracer(SCOPE)
            .span_builder("start")
            .with_start_time(SystemTime::from(times.0))
            .with_attributes(attributes)
            .start_with_context(&global::tracer(SCOPE), &empty);
        drop(pending);
        // The span includes a step that begins at the end of the start.
        end(span, end_of(times) + SHORTEST, failure);
    }

    /// Records a completed step of the start. `failure` is the reason of its failure.
    pub fn record_step(&self, name: &'static str, times: Times, failure: Option<&str>) {
        let tracer = global::tracer(SCOPE);
        let span = tracer.span_builder(name).with_start_time(SystemTime::from(times.0));
        end(span.start_with_context(&tracer, &self.parent()), end_of(times), failure);
    }

    /// Records that the current request has launched the workshop, and links the two traces.
    pub fn record_launch(&self, times: Times) {
        let request = Context::current();
        let tracer = global::tracer(SCOPE);
        let mut span = tracer.span_builder("launch").with_start_time(SystemTime::from(times.0));
        let asked = request.span().span_context().clone();
        // A link to an unrecorded request would have no target.
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

/// Starts the span of a request, and returns it as a context for the handler. `parent` is the context that came with
/// the request; `name` is a method and a route, never a path chosen by the client.
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
    fn trace_of_workshop_name_is_deterministic() {
        let trace = StartTrace::of("rstudio-x7k2q9d4mp");
        assert_eq!(trace, StartTrace::of("rstudio-x7k2q9d4mp"));
        assert_ne!(trace.trace_id(), StartTrace::of("rstudio-x7k2q9d4mq").trace_id());
        assert_ne!(trace.trace_id(), TraceId::INVALID);
        assert_ne!(trace.root(), SpanId::INVALID);
    }
}
