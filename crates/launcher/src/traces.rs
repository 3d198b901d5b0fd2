//! Exports spans by OTLP over HTTP, if a collector is configured.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use clap::Args;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use launcher_domain::Entropy;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::messages::innermost;
use launcher_process::settings::Confidential;
use launcher_trace::StartTrace;
use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry::{KeyValue, global};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, SpanExporter,
    WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{IdGenerator, Sampler, SdkTracerProvider};
use rustix::system::uname;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Maximum time for sending the last spans when the program stops.
const FLUSH: Duration = Duration::from_secs(3);

/// Settings for the export of traces.
#[derive(Debug, Clone, Args)]
pub(crate) struct TraceSettings {
    /// Collector that receives traces by OTLP over HTTP, as in http://collector:4318; default: none
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL", value_parser = Confidential(endpoint))]
    pub(crate) otlp_endpoint: Option<Uri>,
}

/// Runs `main` in a runtime with several threads. Exports its spans as `program` to the configured collector.
pub(crate) fn run_traced(
    settings: &TraceSettings,
    program: &'static str,
    main: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(not_started)?;
    // Declared after the runtime, so dropped before it: sending the last spans needs the runtime.
    let _traces = {
        let _within = runtime.enter();
        Traces::start(settings, program)?
    };
    runtime.block_on(main)
}

/// Returns the message about a runtime that cannot be started.
pub(crate) fn not_started(error: std::io::Error) -> String {
    format!("the runtime cannot be started: {error}")
}

/// The span exporter. Dropping it flushes the remaining spans, within [`FLUSH`].
#[derive(Debug)]
struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts to export this process's spans as `program` to the configured collector. Must run within a runtime.
    fn start(settings: &TraceSettings, program: &'static str) -> Result<Option<Self>, String> {
        let Some(endpoint) = &settings.otlp_endpoint else { return Ok(None) };
        let exporter = SpanExporter::builder().with_http();
        // Load CA certificates only for HTTPS: a machine without certificates can still use an HTTP collector.
        let exporter = if endpoint.scheme() == Some(&Scheme::HTTPS) {
            let trusted = HttpsConnectorBuilder::new().with_native_roots();
            let trusted = trusted
                .map_err(|error| format!("traces cannot be sent: this machine has no CA certificates: {error}"))?;
            exporter.with_http_client(Collector::new(trusted.https_only().enable_http1().build()))
        } else {
            exporter.with_http_client(Collector::new(HttpConnector::new()))
        };
        let exporter = exporter
            .with_endpoint(format!("{}/v1/traces", endpoint.to_string().trim_end_matches('/')))
            .build()
            .map_err(|error| format!("traces cannot be sent: {error}"))?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(program))
            // Follow the sampling decision in `traceparent`. Record traces without a decision.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_id_generator(Identifiers(Arc::new(SystemEntropy)))
            .with_batch_exporter(exporter)
            .build();
        global::set_text_map_propagator(TraceContextPropagator::new());
        global::set_tracer_provider(provider.clone());
        tracing::info!(collector = endpoint.authority().map(Authority::as_str), "exporting traces to collector");
        Ok(Some(Self(provider)))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(FLUSH) {
            tracing::warn!(%error, "final span export failed, dropping the last spans");
        }
    }
}

/// Returns the resource attributes: the program's own values, unless environment variables override them.
fn resource(program: &'static str) -> Resource {
    let told = std::env::var("OTEL_SERVICE_NAME").ok().filter(|name| !name.is_empty());
    let known = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", program),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            // Host name. On Kubernetes it is the pod's name, which distinguishes replicas.
            KeyValue::new("service.instance.id", uname().nodename().to_string_lossy().into_owned()),
        ])
        .with_detectors(&[Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())]);
    match told {
        Some(name) => known.with_service_name(name),
        None => known,
    }
    .build()
}

/// Generates trace and span ids. The root span of a workshop's start gets the ids that `launcher-trace` planned for it.
/// Other spans get random ids.
#[derive(Debug)]
struct Identifiers(Arc<dyn Entropy>);

impl Identifiers {
    fn draw<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes);
        bytes
    }
}

impl IdGenerator for Identifiers {
    fn new_trace_id(&self) -> TraceId {
        StartTrace::pending_root().map_or_else(|| TraceId::from_bytes(self.draw()), |start| start.trace_id())
    }

    fn new_span_id(&self) -> SpanId {
        StartTrace::pending_root().map_or_else(|| SpanId::from_bytes(self.draw()), |start| start.root())
    }
}

fn endpoint(text: &str) -> Result<Uri, String> {
    let uri: Uri = text.parse().map_err(|error| format!("{error}; write it as in http://collector:4318"))?;
    // Refuse credentials in the URL: the exporter would not send them, but the log would show them.
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(
            "the URL contains a user: write the collector's credentials into OTEL_EXPORTER_OTLP_HEADERS".to_owned()
        );
    }
    match uri.scheme_str() {
        Some("http" | "https") if uri.query().is_none() => Ok(uri),
        _ => Err("not an http or https URL; write it as in http://collector:4318".to_owned()),
    }
}

/// Maximum size of a collector's response, in bytes.
const COLLECTOR_ANSWER: usize = 64 << 10;

/// HTTP client of the span exporter. The exporter runs in its own thread, but its requests run on the async runtime.
#[derive(Debug)]
struct Collector<C> {
    client: Client<C, Full<Bytes>>,
    runtime: Handle,
    /// Request timeout. Without it, the exporter would wait for a response forever, and export no other spans.
    request_timeout: Duration,
    /// True if the last request got no response or an error status.
    is_bad: AtomicBool,
}

impl<C: Connect + Clone> Collector<C> {
    /// Creates the transport; `connector` opens its connections. Must be called within a runtime.
    fn new(connector: C) -> Self {
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
    let body = Limited::new(body, COLLECTOR_ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}

/// Reads the request timeout from the same environment variables (in milliseconds) as the exporter.
fn request_timeout() -> Duration {
    let told = |name| std::env::var(name).ok()?.parse().ok().map(Duration::from_millis);
    let told = told(OTEL_EXPORTER_OTLP_TRACES_TIMEOUT).or_else(|| told(OTEL_EXPORTER_OTLP_TIMEOUT));
    told.unwrap_or(OTEL_EXPORTER_OTLP_TIMEOUT_DEFAULT)
}
