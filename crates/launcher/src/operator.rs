//! `launcher operator`: runs the operator, and its health and metrics listener.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_operator::{Exposure, Operator, OperatorSettings};
use launcher_process::health::Health;
use launcher_process::listener::listen;
use launcher_process::serve::ServeLimits;
use launcher_process::settings::unknown_names;
use launcher_process::stop::Stop;
use launcher_process::telemetry::{self, LogSettings};
use prometheus_client::registry::Registry;

use crate::cli::Cli;
use crate::cluster::{self, ClusterError};
use crate::traces::{TraceError, TraceSettings, Traces};

/// Maximum time for stopping the operator: it gives up its leadership, and finishes the responses in flight.
const GRACE: Duration = Duration::from_secs(10);

/// Settings of the operator, and of its process.
#[derive(Debug, Clone, Args)]
pub(crate) struct OperatorArgs {
    /// Address of /healthz, /readyz and /metrics; do not expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9091", value_name = "ADDR")]
    telemetry_addr: SocketAddr,

    #[command(flatten)]
    operator: OperatorSettings,

    #[command(flatten)]
    traces: TraceSettings,

    #[command(flatten)]
    log: LogSettings,
}

/// Reasons why the operator cannot start. Each message is one line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorStartError {
    #[error("SERVICE_LOG cannot be read: {0}")]
    Log(#[from] tracing_subscriber::filter::ParseError),
    #[error("the runtime cannot be started: {0}")]
    Runtime(io::Error),
    #[error("SERVICE_TELEMETRY_ADDR {addr} cannot be listened on: {error}; choose another address")]
    Listen { addr: SocketAddr, error: io::Error },
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Traces(#[from] TraceError),
    #[error("the operator stopped unexpectedly")]
    Crashed,
}

/// Runs until a stop is requested.
pub(crate) fn run(settings: OperatorArgs) -> Result<(), OperatorStartError> {
    telemetry::init(&settings.log)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(OperatorStartError::Runtime)?;
    let _traces = {
        let _within = runtime.enter();
        Traces::start(&settings.traces, "workshop-operator")?
    };
    runtime.block_on(operate(settings))
}

async fn operate(args: OperatorArgs) -> Result<(), OperatorStartError> {
    let stop = Stop::on_signals().map_err(OperatorStartError::Runtime)?;
    let addr = args.telemetry_addr;
    let listener = listen(addr, &ServeLimits::telemetry().listen_options())
        .map_err(|error| OperatorStartError::Listen { addr, error })?;
    warn_about(&args.operator);
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "operator".to_owned());
    let (client, namespace) = cluster::connect().await?;
    let mut settings = args.operator;
    if settings.namespace.is_empty() {
        settings.namespace = namespace;
    }
    cluster::check_namespaces(&settings.namespace, &settings.class_namespaces)?;
    let operator = Operator::new(client, settings, &host, Arc::new(SystemClock), &SystemEntropy);

    let health_stop = Stop::new();
    let health = tokio::spawn(health(&operator, stop.clone()).serve(listener, health_stop.clone()));
    let ended = tokio::spawn(launcher_operator::run(operator, stop.clone())).await;
    let outcome = if ended.is_ok() && stop.is_requested() { Ok(()) } else { Err(OperatorStartError::Crashed) };
    stop.finish(GRACE).await;
    health_stop.request();
    drop(health.await);
    outcome
}

fn health(operator: &Operator, stop: Stop) -> Health {
    let mut metrics = Registry::default();
    operator.metrics().register(&mut metrics);
    let operator = operator.clone();
    let ready = Arc::new(move || {
        let ready = operator.ready();
        Box::pin(async move { ready }) as std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + Send>>
    });
    Health::new(ready, metrics, stop)
}

fn warn_about(settings: &OperatorSettings) {
    for name in unknown_names::<Cli>(std::env::vars_os()) {
        tracing::warn!(%name, "ignoring unknown setting; `launcher operator --help` lists all settings");
    }
    if settings.exposure() == Exposure::None {
        tracing::warn!(
            "creating no Ingress: SERVICE_INGRESS_ANNOTATIONS names no auth middleware, and \
             SERVICE_INGRESS_GATED_ELSEWHERE is not true; workshops have no URL"
        );
    }
    if !settings.require_authentication {
        tracing::warn!("AUTHENTICATION IS OFF: every client can open every workshop; never in production");
    }
}
