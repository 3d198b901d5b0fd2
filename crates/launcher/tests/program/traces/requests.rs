//! The spans of requests, and their resource.

use reqwest::Method;

use super::collector::{Collector, text};
use super::{AT_ONCE, PATH, TRACE, hex, launched, request};
use crate::serving::Serving;

const ATTRIBUTES: &str = "service.name=workshops,deployment.environment.name=course";

#[tokio::test(flavor = "multi_thread")]
async fn trace_resource_has_service_name_version_and_host() {
    for (settings, name) in [
        (&[][..], "workshop-launcher"),
        (&[("OTEL_RESOURCE_ATTRIBUTES", ATTRIBUTES)], "workshops"),
        (&[("OTEL_RESOURCE_ATTRIBUTES", ATTRIBUTES), ("OTEL_SERVICE_NAME", "mine")], "mine"),
    ] {
        let (collector, addr) = Collector::start().await;
        let data = tempfile::tempdir().unwrap();
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
        let serving = Serving::start_with(data.path(), &[&[endpoint, AT_ONCE], settings].concat());
        request(&serving, Method::GET, "/me").send().await.unwrap();
        collector.span(|span| span.name == "GET /api/v1/me").await;
        let told = collector.teller().attributes;
        assert_eq!(text(&told, "service.name"), Some(name));
        assert_eq!(text(&told, "service.version"), Some(env!("CARGO_PKG_VERSION")));
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(text(&told, "service.instance.id"), Some(host.trim()));
        let course = text(&told, "deployment.environment.name");
        assert_eq!(course, (!settings.is_empty()).then_some("course"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_tracestate_and_baggage_are_not_recorded() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let serving = Serving::start_with(data.path(), &[endpoint, AT_ONCE]);
    let asked = request(&serving, Method::GET, "/me").header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));
    asked.header("tracestate", "vendor=anything").header("baggage", "user=anybody").send().await.unwrap();
    let span = collector.span(|span| span.name == "GET /api/v1/me").await;
    assert_eq!(hex(&span.trace_id), TRACE);
    let told = format!("{span:?}");
    assert!(span.trace_state.is_empty() && !told.contains("anything") && !told.contains("anybody"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn start_after_unsampled_launch_request_is_traced_without_link_to_request() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let serving = Serving::start_with(data.path(), &[endpoint, AT_ONCE, PATH]);
    launched(&serving, &["false"], "00").await;
    collector.span(|span| span.name == "start").await;
    let launch = collector.span(|span| span.name == "launch").await;
    assert_eq!(launch.links, []);
    assert!(collector.spans().iter().all(|span| !span.name.starts_with("POST ")), "the ingress said so");
}

#[tokio::test(flavor = "multi_thread")]
async fn request_span_omits_unknown_route_and_unusual_method() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let serving = Serving::start_with(data.path(), &[endpoint, AT_ONCE]);
    for (method, path, name, told) in [
        (Method::GET, "/nowhere", "GET", ("GET", None)),
        (Method::TRACE, "/me", "HTTP /api/v1/me", ("_OTHER", Some("/api/v1/me"))),
    ] {
        request(&serving, method, path).send().await.unwrap();
        let span = collector.span(|span| span.name == name).await;
        let said = |key| text(&span.attributes, key);
        assert_eq!((said("http.request.method"), said("http.route")), (Some(told.0), told.1));
    }
}
