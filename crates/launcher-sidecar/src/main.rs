//! `launcher-sidecar`: forwards only the workshop owner's requests to the app.

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use clap::CommandFactory;
use launcher_domain::clock::SystemClock;
use launcher_process::listener::{Address, Listener};
use launcher_process::serve::raise_open_file_limit;
use launcher_process::settings::{read, read_from, unknown_names};
use launcher_process::stop::Stop;
use launcher_process::telemetry as logs;
use launcher_sidecar::archive::{ArchiveSettings, serve_archive};
use launcher_sidecar::isolation::{IsolationError, IsolationSettings, wait_isolated};
use launcher_sidecar::network_rules::{NetworkRulesSettings, give_up_privileges, limit_network};
use launcher_sidecar::serve::{listen, reject_connections, serve};
use launcher_sidecar::settings::{NoticeSettings, ServerSettings, Settings};
use launcher_sidecar::telemetry::{self, Telemetry};
use launcher_sidecar::{Policy, Sidecar, follow_proxy_secret, load_proxy_secret};

/// First argument that selects the init container mode `wait-isolated`.
const WAIT_ISOLATED: &str = "wait-isolated";
/// First argument that selects the mode `limit-network`, in which the container of a sidecar begins.
const LIMIT_NETWORK: &str = "limit-network";
/// First argument that selects the mode `notice`, for addresses without a workshop.
const NOTICE: &str = "notice";
/// First argument that selects the mode `archive`, which sends the files of a volume.
const ARCHIVE: &str = "archive";
/// Exit code when the forbidden address is still reachable at the timeout, or when the network rules could not be
/// installed.
const NOT_ISOLATED: u8 = 3;

#[expect(clippy::print_stderr, reason = "logging may not be set up yet, and this one line is for people")]
fn main() -> ExitCode {
    let arguments = || std::env::args_os().skip(1);
    let outcome = match arguments().next().as_deref().and_then(OsStr::to_str) {
        Some(WAIT_ISOLATED) => read_from::<IsolationSettings>(arguments()).and_then(|settings| isolate(&settings)),
        Some(LIMIT_NETWORK) => read_from::<NetworkRulesSettings>(arguments()).and_then(|settings| limit(&settings)),
        Some(NOTICE) => read_from::<NoticeSettings>(arguments()).and_then(|settings| run(show_notice(&settings))),
        Some(ARCHIVE) => read_from::<ArchiveSettings>(arguments()).and_then(|settings| archive(&settings)),
        _ => read::<Settings>().and_then(|settings| run(forward(&settings))),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("launcher-sidecar: {error}");
        ExitCode::from(2)
    })
}

#[tokio::main(flavor = "current_thread")]
async fn isolate(settings: &IsolationSettings) -> Result<ExitCode, String> {
    logs::init(&settings.logs)?;
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

/// Sends archives. Its threads end with the process.
#[tokio::main(flavor = "current_thread")]
async fn archive(settings: &ArchiveSettings) -> Result<ExitCode, String> {
    logs::init(&settings.logs)?;
    raise_open_file_limit();
    match serve_archive(settings).await {
        Ok(()) => {
            tracing::info!("ending: sent the archive, or received a stop signal");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            tracing::warn!(%error, "no complete archive was sent");
            Ok(ExitCode::FAILURE)
        }
    }
}

#[expect(clippy::print_stderr, reason = "the launcher shows this one line, which must have no log format")]
fn limit(settings: &NetworkRulesSettings) -> Result<ExitCode, String> {
    logs::init(&settings.logs)?;
    match limit_network(settings) {
        Ok(rules) => {
            tracing::info!(rules, "network rules are installed, the app may start");
            settings.serve_as.map_or(Ok(ExitCode::SUCCESS), serve_as)
        }
        Err(error) => {
            eprintln!("launcher-sidecar: {error}");
            Ok(ExitCode::from(NOT_ISOLATED))
        }
    }
}

/// Gives up all privileges, and replaces this program by the sidecar. Returns only an error.
fn serve_as(user: NonZeroU32) -> Result<ExitCode, String> {
    give_up_privileges(user).map_err(|error| {
        format!("the privileges cannot be given up: {error}; run this program as root with the capabilities SETUID, SETGID and SETPCAP")
    })?;
    let program = std::env::current_exe().map_err(|error| format!("this program's file cannot be found: {error}"))?;
    Err(format!("{} cannot be executed: {}", program.display(), Command::new(&program).exec()))
}

/// Maximum number of threads that read files: the expiry and the proxy secret. More would exceed the memory limit.
const FILE_THREADS: usize = 2;

fn run(program: impl Future<Output = Result<(), String>>) -> Result<ExitCode, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(FILE_THREADS).build();
    runtime.map_err(|error| format!("the runtime cannot be started: {error}"))?.block_on(program)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves one workshop.
async fn forward(settings: &Settings) -> Result<(), String> {
    prepare::<Settings>(&settings.server)?;
    if !settings.require_authentication {
        tracing::warn!("authentication is off: requests of every user are forwarded");
    }
    let proxy_secret = match &settings.proxy_secret_file {
        Some(path) => Some(load_proxy_secret(path).await?),
        None => None,
    };
    let server = Server::open(&settings.server)?;
    if let (Some(path), Some(secret)) = (settings.proxy_secret_file.clone(), proxy_secret.clone()) {
        tokio::spawn(async move { follow_proxy_secret(&path, &secret).await });
    }
    let policy = Policy { proxy_secret, ..settings.policy() };
    let sidecar = Sidecar::new(policy, settings.app(), settings.frame());
    let (listen, app) = (&settings.server.listen_addr, settings.app());
    tracing::info!(%listen, %app, owner = %settings.owner_email, "serving requests");
    server.serve(sidecar).await;
    Ok(())
}

/// Serves the addresses that no workshop has.
async fn show_notice(settings: &NoticeSettings) -> Result<(), String> {
    prepare::<NoticeSettings>(&settings.server)?;
    let server = Server::open(&settings.server)?;
    // The policy admits no request, so the sidecar never connects to an app.
    let no_app = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let sidecar = Sidecar::new(settings.policy(), no_app, settings.frame());
    tracing::info!(listen = %settings.server.listen_addr, "serving requests for addresses without a workshop");
    server.serve(sidecar).await;
    Ok(())
}

/// Starts the log, raises the limit of open files, and reports unknown settings.
fn prepare<S: CommandFactory>(settings: &ServerSettings) -> Result<(), String> {
    logs::init(&settings.logs)?;
    raise_open_file_limit();
    for name in unknown_names::<S>(std::env::vars_os()) {
        tracing::warn!(name, "ignoring unknown setting");
    }
    Ok(())
}

/// The open listeners, and the stop of this process.
struct Server {
    listener: Listener,
    telemetry: Listener,
    stop: Stop,
    grace: Duration,
}

impl Server {
    fn open(settings: &ServerSettings) -> Result<Self, String> {
        let stop = Stop::on_signals().map_err(|error| format!("signals cannot be handled: {error}"))?;
        let listener = named("SERVICE_LISTEN_ADDR", &settings.listen_addr, listen(&settings.listen_addr))?;
        let telemetry = telemetry::listen(&settings.telemetry_addr);
        let telemetry = named("SERVICE_TELEMETRY_ADDR", &settings.telemetry_addr, telemetry)?;
        Ok(Self { listener, telemetry, stop, grace: settings.grace() })
    }

    /// Serves requests until a stop signal, and then completes the requests in flight.
    async fn serve(self, sidecar: Sidecar) {
        let Self { listener, telemetry, stop, grace } = self;
        let own_ports = [&listener, &telemetry].into_iter().filter_map(Listener::port).collect();
        let status = Telemetry::new(sidecar.clone(), Arc::new(SystemClock), stop.clone(), own_ports);
        tokio::spawn(status.serve(telemetry));
        serve(&listener, sidecar, stop.clone()).await;
        let in_time = tokio::select! {
            in_time = stop.finish(grace) => in_time,
            () = reject_connections(&listener) => false,
        };
        if !in_time {
            tracing::warn!(
                "in-flight requests dropped: SERVICE_SHUTDOWN_GRACE expired, or a second stop signal arrived"
            );
        }
    }
}

fn named(setting: &str, address: &Address, listener: io::Result<Listener>) -> Result<Listener, String> {
    listener.map_err(|error| format!("{setting} {address} cannot be listened on: {error}; choose another address"))
}
