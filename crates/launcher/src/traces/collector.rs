//! HTTP transport from the span exporter to the collector.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::uri::Authority;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT,
};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Maximum size of a collector's response, in bytes.
const ANSWER: usize = 64 << 10;

/// HTTP client of the span exporter. The exporter runs in its own thread, but its requests run on the async runtime.
#[derive(Debug)]
pub(super) struct Collector<C> {
    client: Client<C, Full<Bytes>>,
    runtime: Handle,
    /// Request timeout. Without it, the exporter would wait for a response forever, and export no other spans.
    request_timeout: Duration,
    /// True if the last request got no response or an error status.
    is_bad: AtomicBool,
}

impl<C: Connect + Clone> Collector<C> {
    /// Creates the transport; `connector` opens its connections. Must be called within a runtime.
    pub(super) fn new(connector: C) -> Self {
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, runtime: Handle::current(), request_timeout: request_timeout(), is_bad: AtomicBool::new(false) }
    }

    /// Logs when export to the collector begins to fail, and when it works again. Does not log repeated outcomes.
    fn log_transition(&self, collector: &Uri, outcome: &Result<Response<Bytes>, HttpError>) {
        let wrong = match outcome {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("collector answered {}", answer.status())),
            Err(error) => Some(innermost(error.as_ref())),
        };
        let was_bad = self.is_bad.swap(wrong.is_some(), Ordering::Relaxed);
        let collector = collector.authority().map(Authority::as_str);
        match wrong {
            Some(error) if !was_bad => {
                tracing::warn!(collector, error, "span export failed, dropping spans until the collector accepts them")
            }
            None if was_bad => tracing::info!(collector, "span export recovered"),
            _ => {}
        }
    }
}

#[async_trait]
impl<C> HttpClient for Collector<C>
where
    C: Connect + Clone + Debug + Send + Sync + 'static,
{
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, request_timeout, collector) = (self.client.clone(), self.request_timeout, request.uri().clone());
        // The timeout needs the runtime's timer, which the exporter's thread lacks: create the timeout in a task.
        let answered = self.runtime.spawn(async move {
            let answer = timeout(request_timeout, send(client, request)).await;
            answer.unwrap_or_else(|_| Err(format!("no answer within {request_timeout:?}").into()))
        });
        let outcome = answered.await?;
        self.log_transition(&collector, &outcome);
        outcome
    }
}

async fn send<C>(client: Client<C, Full<Bytes>>, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let (parts, body) = client.request(request.map(Full::new)).await?.into_parts();
    let body = Limited::new(body, ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}

/// Returns the innermost cause of an error, because the outer errors do not explain the failure.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}

/// Reads the request timeout from the same environment variables (in milliseconds) as the exporter.
fn request_timeout() -> Duration {
    let told = |name| std::env::var(name).ok()?.parse().ok().map(Duration::from_millis);
    let told = told(OTEL_EXPORTER_OTLP_TRACES_TIMEOUT).or_else(|| told(OTEL_EXPORTER_OTLP_TIMEOUT));
    told.unwrap_or(OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT)
}
