//! Traces of the launcher, as a collector receives them.

mod away;
mod collector;
mod requests;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use self::collector::Collector;
use crate::serving::Serving;

const ADMIN: (&str, &str) = ("X-Auth-Request-Email", "admin@example.org");
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
/// The flags in `traceparent` that mark a request as sampled.
const SAMPLED: &str = "01";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Builds a request of an admin.
fn request(serving: &Serving, method: Method, path: &str) -> RequestBuilder {
    Client::new().request(method, serving.api(path)).header(ADMIN.0, ADMIN.1)
}

async fn asked(serving: &Serving, path: &str, body: &Value, flags: &str) -> Value {
    let request = request(serving, Method::POST, path).json(body);
    let request = request.header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-{flags}"));
    request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
}

/// Launches a workshop that runs `command`. `flags` are the trace flags that the ingress sends. Returns the workshop's
/// name.
async fn launched(serving: &Serving, command: &[&str], flags: &str) -> String {
    let template = json!({"name": "Web", "app_type": "custom", "image": "web", "port": 8000, "command": command,
        "lifetime_seconds": 600});
    let template = asked(serving, "/templates/", &template, flags).await;
    let id = template["template_id"].as_str().unwrap();
    let instance = asked(serving, &format!("/templates/{id}/launch"), &json!({}), flags).await;
    instance["k8s_name"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn workshop_start_is_traced_from_ingress_to_ready_app() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = format!("http://{addr}");
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer of-the-course,x-course=penguins");
    let serving = Serving::start_with(data.path(), &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), headers, PATH]);
    let name = launched(&serving, &["python3", "-m", "http.server", "$(PORT)", "--bind", "127.0.0.1"], SAMPLED).await;

    let request = collector.span(|span| span.name == "POST /api/v1/templates/{template_id}/launch").await;
    assert_eq!(hex(&request.trace_id), TRACE, "the request belongs to the trace that the ingress has begun");
    assert_eq!(hex(&request.parent_span_id), "00f067aa0ba902b7");
    let whole = collector.span(|span| span.name == "start").await;
    assert!(whole.parent_span_id.is_empty() && whole.status.as_ref().is_none_or(|status| status.code == 0));
    let said = format!("{:?}", whole.attributes);
    assert!(said.contains(&name), "{said}");
    assert_eq!(request.links[0].trace_id, whole.trace_id, "the span of the request links to the trace of the start");
    for step in ["launch", "queue", "apply"] {
        let span = collector.span(|span| span.name == step).await;
        assert_eq!((&span.trace_id, &span.parent_span_id), (&whole.trace_id, &whole.span_id), "{step}");
        let within = whole.start_time_unix_nano <= span.start_time_unix_nano
            && span.end_time_unix_nano <= whole.end_time_unix_nano;
        assert!(within, "{step} is a part of the start: {span:?} {whole:?}");
        assert!(span.start_time_unix_nano < span.end_time_unix_nano, "{step} takes its time: {span:?}");
    }
    let launch = collector.span(|span| span.name == "launch").await;
    assert_eq!(launch.links[0].span_id, request.span_id, "the span of the launch links to the span of the request");
    let sent = ["authorization", "x-course"].map(|name| collector.header(name).unwrap());
    assert_eq!(sent, ["Bearer of-the-course", "penguins"]);
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains("of-the-course"), "the log contains a header of the collector: {log}");
    assert!(log.contains(&hex(&whole.trace_id)), "the log names the trace of a launch: {log}");
    let told = format!("{:?}", collector.spans());
    assert!(!told.contains("admin@example.org"), "a span contains the identity of the caller: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_is_traced_and_unreachable_collector_does_not_block_launcher() {
    let (collector, addr) = Collector::start().await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = format!("http://{addr}/");
    let serving = Serving::start_with(data.path(), &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), PATH]);
    launched(&serving, &["false"], SAMPLED).await;
    let whole = collector.span(|span| span.name == "start").await;
    let status = whole.status.unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "crashed"));
    let (_, log) = serving.stop();
    assert!(log.contains("exporting traces") && log.contains(&addr.to_string()), "{log}");

    let data = tempfile::tempdir().unwrap();
    let unreachable = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), PATH];
    let serving = Serving::start_with(data.path(), &unreachable);
    launched(&serving, &["false"], SAMPLED).await;
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("Connection refused"), "the log names the cause: {log}");
}

/// Setting that lets the program export spans almost immediately.
const AT_ONCE: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "20");
/// Search path, as an environment variable: tests start the program with an empty environment.
const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");
