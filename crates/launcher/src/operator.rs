//! `launcher operator`: runs the operator, and its health and metrics listener.

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
use crate::cluster;
use crate::traces::{TraceSettings, not_started, run_traced};

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

/// Runs until a stop is requested.
///
/// # Errors
/// Returns one line with the reason why the operator cannot start or keep running.
pub(crate) fn run(args: OperatorArgs) -> Result<(), String> {
    telemetry::init(&args.log)?;
    run_traced(&args.traces.clone(), "workshop-operator", operate(args))
}

async fn operate(args: OperatorArgs) -> Result<(), String> {
    let stop = Stop::on_signals().map_err(not_started)?;
    let addr = args.telemetry_addr;
    let listener = listen(addr, &ServeLimits::telemetry().listen_options()).map_err(|error| {
        format!("SERVICE_TELEMETRY_ADDR {addr} cannot be listened on: {error}; choose another address")
    })?;
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
    let has_stopped = ended.is_ok() && stop.is_requested();
    stop.finish(GRACE).await;
    health_stop.request();
    drop(health.await);
    if has_stopped { Ok(()) } else { Err("the operator stopped unexpectedly".to_owned()) }
}

fn health(operator: &Operator, stop: Stop) -> Health {
    let mut metrics = Registry::default();
    operator.metrics().register(&mut metrics);
    let operator = operator.clone();
    Health::new(move || std::future::ready(operator.ready()), metrics, stop)
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
