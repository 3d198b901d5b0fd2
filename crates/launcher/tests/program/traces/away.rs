//! Collectors that hang, refuse spans, or cannot be reached.

use launcher_testkit::eventually;
use reqwest::Method;

use super::collector::{Collector, Fault};
use super::{AT_ONCE, PATH, request};
use crate::serving::Serving;
use crate::{launcher, text};

async fn ask(serving: &Serving, path: &str) {
    request(serving, Method::GET, path).send().await.unwrap().error_for_status().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_collector_loses_only_spans_of_hanging_export() {
    let (collector, addr) = Collector::start_with([Fault::Silence]).await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let patience = ("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
    let serving = Serving::start_with(data.path(), &[endpoint, patience, AT_ONCE, PATH]);
    ask(&serving, "/me").await;
    collector.has_left(0).await;
    // An export of a busy machine may take longer than the timeout, too.
    eventually(async || {
        ask(&serving, "/templates/").await;
        collector.spans().iter().any(|span| span.name == "GET /api/v1/templates/").then_some(())
    })
    .await;
    assert!(
        collector.spans().iter().all(|span| span.name != "GET /api/v1/me"),
        "the collector received the span of the first request, whose export should have timed out"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn collector_failure_and_recovery_are_logged_once() {
    let (collector, addr) = Collector::start_with([Fault::Status(403), Fault::Status(403)]).await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let unknown = ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    let serving = Serving::start_with(data.path(), &[endpoint, unknown, AT_ONCE, PATH]);
    for left in [1, 0] {
        ask(&serving, "/me").await;
        collector.has_left(left).await;
    }
    for path in ["/templates/", "/instances/"] {
        ask(&serving, path).await;
        collector.span(|span| span.name == format!("GET /api/v1{path}")).await;
    }
    let (_, log) = serving.stop();
    let said = |words: &str| log.lines().filter(|line| line.contains(words)).count();
    assert_eq!(said("span export failed, dropping spans until"), 1, "{log}");
    assert!(said(&addr.to_string()) >= 3, "{log}");
    assert_eq!((said("collector answered 403 Forbidden"), said("span export recovered")), (1, 1), "{log}");
    assert_eq!((said("Export.Failed"), said("ExportError")), (0, 0), "{log}");
    assert_eq!(said("Ignoring value 'gzip' for OTEL_EXPORTER_OTLP_COMPRESSION"), 1, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn start_without_ca_certificates_fails_only_with_https_collector() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let without = ("SSL_CERT_FILE", "/nowhere/certificates.pem");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let serving = Serving::start_with(data.path(), &[endpoint, without, AT_ONCE]);
    ask(&serving, "/me").await;
    collector.span(|span| span.name == "GET /api/v1/me").await;

    let output = launcher(&["serve"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"), without]);
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("this machine has no CA certificates"), "{complaint}");
}
