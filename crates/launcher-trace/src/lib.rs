//! The trace of a start: from the request that launches a workshop to the pod that is ready.
//!
//! A start outlives its request, and goes on in other processes: another replica may tell the fleet of it, after a
//! restart perhaps, and the operator sees its pod. So nothing is handed from one to the next: the trace's identifier
//! follows from the workshop's name, which all of them know, and the request is linked to it.
//!
//! Spans go to the global tracer; while nobody has installed one, recording costs next to nothing.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue, global};
use sha2::{Digest, Sha256};

/// The name under which spans are recorded.
const SCOPE: &str = "workshop-launcher";
/// What takes no time by the clocks takes this long: a span without length is taken for a defect.
const SHORTEST: Duration = Duration::from_micros(1);

/// The trace of the start of one workshop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartTrace {
    trace_id: TraceId,
    /// The span of the whole start, to which all others belong.
    root: SpanId,
}

/// From when until when.
pub type Times = (Timestamp, Timestamp);

impl StartTrace {
    /// The trace of the workshop with this name: no two workshops ever share one.
    #[must_use]
    pub fn of(k8s_name: &str) -> Self {
        let digest = Sha256::digest(format!("workshop start\n{k8s_name}"));
        let (mut trace_id, mut root) = ([0; 16], [0; 8]);
        trace_id.copy_from_slice(&digest[..16]);
        root.copy_from_slice(&digest[16..24]);
        Self { trace_id: TraceId::from_bytes(trace_id), root: SpanId::from_bytes(root) }
    }

    /// The trace that the span which is being built right now is the root of: for whoever hands out identifiers.
    #[must_use]
    pub fn being_built() -> Option<Self> {
        Context::current().get::<Self>().copied()
    }

    /// What one looks for in the backend.
    #[must_use]
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// The identifier of the span of the whole start.
    #[must_use]
    pub fn root(&self) -> SpanId {
        self.root
    }

    /// Records the whole start, once it has come to its end, good or bad.
    pub fn whole(&self, times: Times, attributes: Vec<KeyValue>, failure: Option<&str>) {
        let nobody = Context::new();
        let planned = nobody.with_value(*self).attach();
        let span = global::tracer(SCOPE)
            .span_builder("start")
            .with_start_time(SystemTime::from(times.0))
            .with_attributes(attributes)
            .start_with_context(&global::tracer(SCOPE), &nobody);
        drop(planned);
        // A step that begins with the end of the start is a part of it.
        end(span, end_of(times) + SHORTEST, failure);
    }

    /// Records a step of the start that is over. `failure` says why it has come to nothing.
    pub fn step(&self, name: &'static str, times: Times, failure: Option<&str>) {
        let tracer = global::tracer(SCOPE);
        let span = tracer.span_builder(name).with_start_time(SystemTime::from(times.0));
        end(span.start_with_context(&tracer, &self.parent()), end_of(times), failure);
    }

    /// Records that the current request has launched the workshop, and links the one to the other.
    pub fn launched(&self, times: Times) {
        let request = Context::current();
        let tracer = global::tracer(SCOPE);
        let mut span = tracer.span_builder("launch").with_start_time(SystemTime::from(times.0));
        let asked = request.span().span_context().clone();
        // A link to a request that nobody records would lead nowhere.
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

/// The span of a request that is being answered, as a context for what answers it. `asker` is the context that came with
/// the request; `name` is a method and a route, never a path that somebody made up.
#[must_use]
pub fn request(asker: &Context, name: String, attributes: Vec<KeyValue>) -> Context {
    let tracer = global::tracer(SCOPE);
    let span = tracer.span_builder(name).with_kind(SpanKind::Server).with_attributes(attributes);
    asker.with_span(span.start_with_context(&tracer, asker))
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
    fn a_name_has_one_trace_for_ever() {
        let trace = StartTrace::of("rstudio-x7k2q9d4mp");
        assert_eq!(trace, StartTrace::of("rstudio-x7k2q9d4mp"));
        assert_ne!(trace.trace_id(), StartTrace::of("rstudio-x7k2q9d4mq").trace_id());
        assert_ne!(trace.trace_id(), TraceId::INVALID);
        assert_ne!(trace.root(), SpanId::INVALID);
    }
}
