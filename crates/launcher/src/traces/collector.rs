//! How spans are sent: the exporter's words to the collector.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT,
};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// More of a collector's answer is not read.
const ANSWER: usize = 64 << 10;

type Connections = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The exporter has a thread of its own; what it sends goes through the runtime.
#[derive(Debug)]
pub(super) struct Collector {
    client: Connections,
    runtime: Handle,
    /// The exporter asks nothing else while it waits, and by itself it waits for ever.
    patience: Duration,
}

impl Collector {
    /// What is reached with these connections; within a runtime.
    pub(super) fn new(client: Connections) -> Self {
        Self { client, runtime: Handle::current(), patience: patience() }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, patience) = (self.client.clone(), self.patience);
        // The timer is the runtime's: it has to be set within.
        let answered = self.runtime.spawn(async move {
            let answer = timeout(patience, ask(client, request)).await;
            answer.unwrap_or_else(|_| Err(format!("no answer within {patience:?}").into()))
        });
        answered.await?
    }
}

async fn ask(client: Connections, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (parts, body) = client.request(request.map(Full::new)).await?.into_parts();
    let body = Limited::new(body, ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}

/// How long an answer may take, in milliseconds, read as the exporter reads it for its attempts.
fn patience() -> Duration {
    let told = |name| std::env::var(name).ok()?.parse().ok().map(Duration::from_millis);
    let told = told(OTEL_EXPORTER_OTLP_TRACES_TIMEOUT).or_else(|| told(OTEL_EXPORTER_OTLP_TIMEOUT));
    told.unwrap_or(OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT)
}
