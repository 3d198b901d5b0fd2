//! A collector that does not take what it is sent.

use reqwest::Client;

use super::collector::{Collector, Fault};
use super::{ADMIN, PATH};
use crate::lifecycle::Serving;

/// Spans leave as soon as they are there.
const AT_ONCE: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "20");

async fn ask(serving: &Serving, path: &str) {
    let answer = Client::new().get(serving.api(path)).header(ADMIN.0, ADMIN.1).send().await.unwrap();
    answer.error_for_status().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_hangs_costs_what_it_was_sent_and_nothing_after() {
    let (collector, addr) = Collector::start_with([Fault::Silence]).await;
    let data = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*format!("http://{addr}"));
    let patience = ("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
    let serving = Serving::start_with(data.path(), &[endpoint, patience, AT_ONCE, PATH]);
    ask(&serving, "/me").await;
    collector.has_failed().await;
    ask(&serving, "/templates/").await;
    collector.span(|span| span.name == "GET /api/v1/templates/").await;
    assert!(collector.spans().iter().all(|span| span.name != "GET /api/v1/me"), "it was never taken");
}
