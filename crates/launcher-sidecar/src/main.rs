//! `launcher-sidecar`: forwards only the workshop owner's requests to the app.

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use launcher_domain::clock::SystemClock;
use launcher_process::files;
use launcher_process::settings::{read, read_from, unknown_names};
use launcher_process::stop::Stop;
use launcher_process::telemetry as logs;
use launcher_sidecar::isolation::{IsolationError, IsolationSettings, wait_isolated};
use launcher_sidecar::serve::{listen, reject_connections, serve};
use launcher_sidecar::settings::Settings;
use launcher_sidecar::telemetry::{self, Telemetry};
use launcher_sidecar::{Policy, Sidecar, secret_file};
use tokio::net::TcpListener;

/// First argument that selects the init container mode `wait-isolated`.
const WAIT_ISOLATED: &str = "wait-isolated";
/// Exit code when the forbidden address is still reachable at the timeout.
const NOT_ISOLATED: u8 = 3;

#[expect(clippy::print_stderr, reason = "logging may not be set up yet, and this one line is for people")]
fn main() -> ExitCode {
    let outcome = if std::env::args_os().nth(1).is_some_and(|mode| mode == WAIT_ISOLATED) {
        read_from::<IsolationSettings>(std::env::args_os().skip(1)).and_then(|settings| isolate(&settings))
    } else {
        read::<Settings>().and_then(|settings| run(&settings)).map(|()| ExitCode::SUCCESS)
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("launcher-sidecar: {error}");
        ExitCode::from(2)
    })
}

#[tokio::main(flavor = "current_thread")]
async fn isolate(settings: &IsolationSettings) -> Result<ExitCode, String> {
    logs::init(&settings.logs).map_err(|error| format!("SERVICE_LOG cannot be read: {error}"))?;
    match wait_isolated(settings).await {
        Ok(waited) => {
            tracing::info!(milliseconds = waited.as_millis(), "network policies are enforced, the app may start");
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ IsolationError::NotIsolated { .. }) => {
            tracing::error!(%error, "waiting for network isolation timed out, not starting the app");
            if let Err(problem) = std::fs::write(&settings.termination_log, error.to_string()) {
                tracing::warn!(error = %problem, "writing termination message failed, exiting without it");
            }
            Ok(ExitCode::from(NOT_ISOLATED))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Maximum number of threads that read files: the expiry and the proxy secret. More would exceed the memory limit.
const FILE_THREADS: usize = 2;

fn run(settings: &Settings) -> Result<(), String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(FILE_THREADS).build();
    runtime.map_err(|error| format!("the runtime cannot be started: {error}"))?.block_on(forward(settings))
}

async fn forward(settings: &Settings) -> Result<(), String> {
    logs::init(&settings.logs).map_err(|error| format!("SERVICE_LOG cannot be read: {error}"))?;
    files::raise_open_file_limit();
    for name in unknown_names::<Settings>(std::env::vars_os()) {
        tracing::warn!(name, "ignoring unknown setting");
    }
    if !settings.require_authentication {
        tracing::warn!("authentication is off: requests of every user are forwarded");
    }
    let proxy_secret = match &settings.proxy_secret_file {
        Some(path) => Some(secret_file::load(path).await?),
        None => None,
    };
    let stop = Stop::on_signals().map_err(|error| format!("signals cannot be handled: {error}"))?;
    let listener = named("SERVICE_LISTEN_ADDR", settings.listen_addr, listen(settings.listen_addr))?;
    let telemetry = telemetry::listen(settings.telemetry_addr);
    let telemetry = named("SERVICE_TELEMETRY_ADDR", settings.telemetry_addr, telemetry)?;
    if let (Some(path), Some(secret)) = (settings.proxy_secret_file.clone(), proxy_secret.clone()) {
        tokio::spawn(async move { secret_file::follow(&path, &secret).await });
    }
    let sidecar = Sidecar::with_frame(Policy { proxy_secret, ..settings.policy() }, settings.app(), settings.frame());
    tokio::spawn(Telemetry::new(sidecar.clone(), Arc::new(SystemClock), stop.clone()).serve(telemetry));
    let app = settings.app();
    tracing::info!(listen = %settings.listen_addr, %app, owner = %settings.owner_email, "serving requests");
    serve(&listener, sidecar, stop.clone()).await;
    let in_time = tokio::select! {
        in_time = stop.finish(settings.grace()) => in_time,
        () = reject_connections(&listener) => false,
    };
    if !in_time {
        tracing::warn!("in-flight requests dropped: SERVICE_SHUTDOWN_GRACE expired, or a second stop signal arrived");
    }
    Ok(())
}

fn named(setting: &str, address: SocketAddr, listener: io::Result<TcpListener>) -> Result<TcpListener, String> {
    listener.map_err(|error| format!("{setting} {address} cannot be listened on: {error}; choose another address"))
}
