//! Trace steps of a start that the service records.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use launcher_domain::InstanceState;
use launcher_testkit::{Fault, eventually};
use launcher_trace::StartTrace;
use opentelemetry::trace::Status;
use opentelemetry::{Context, global};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, Span, SpanData, SpanProcessor};

use crate::{World, caller};

/// Span exporter that stores the spans of this process, in the order in which they end.
#[derive(Debug, Clone, Default)]
struct Recorder(Arc<Mutex<Vec<SpanData>>>);

impl SpanProcessor for Recorder {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        self.0.lock().unwrap().push(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

static RECORDER: LazyLock<Recorder> = LazyLock::new(|| {
    let recorder = Recorder::default();
    global::set_tracer_provider(SdkTracerProvider::builder().with_span_processor(recorder.clone()).build());
    recorder
});

/// Returns the spans of a workshop's start, once the start has ended.
async fn start_of(name: &str) -> Vec<SpanData> {
    let steps = StartTrace::of(name).trace_id();
    let is_its = |span: &SpanData| {
        span.span_context.trace_id() == steps || span.attributes.iter().any(|one| one.value.as_str() == name)
    };
    eventually(async || {
        let told: Vec<_> = RECORDER.0.lock().unwrap().iter().filter(|span| is_its(span)).cloned().collect();
        told.iter().any(|span| span.name == "start").then_some(told)
    })
    .await
}

#[tokio::test]
async fn refused_apply_is_traced_as_error_before_the_start_ends() {
    LazyLock::force(&RECORDER);
    let world = World::new().await;
    world.fleet.inject_faults([Fault::Refused]);
    let name = world.launch(&caller("alice")).await.k8s_name;
    let told = start_of(&name).await;
    let names: Vec<&str> = told.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["launch", "apply", "queue", "start"]);
    assert!(matches!(&told[1].status, Status::Error { description } if description.contains("refuse")), "{told:?}");
    assert_eq!(told[3].status, Status::error("invalid-spec"));
}

#[tokio::test]
async fn start_trace_has_error_when_workshop_is_lost_but_not_when_terminated() {
    LazyLock::force(&RECORDER);
    let world = World::new().await;
    let alice = caller("alice");
    let (ended, lost) = (world.launch(&alice).await.k8s_name, world.launch(&alice).await.k8s_name);
    for name in [&ended, &lost] {
        world.workshop(name).await;
        world.until(name, InstanceState::Starting).await;
    }
    world.launcher.terminate(&alice, &ended).await.unwrap();
    world.fleet.remove_workshop(&lost);
    for (name, reason, status) in [(ended, "owner", Status::Unset), (lost, "lost", Status::error("lost"))] {
        let told = start_of(&name).await;
        let start = told.iter().find(|span| span.name == "start").unwrap();
        let said = start.attributes.iter().find(|one| one.key.as_str() == "workshop.end_reason").unwrap();
        assert_eq!((&*said.value.as_str(), &start.status), (reason, &status));
    }
}
