//! `launcher serve`: connects the crates, starts them, and stops them in order.

pub(crate) mod fleet;
mod host_routing;
pub(crate) mod seeds;

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use launcher_api::{ApiProcess, Metrics, StoppedWorkshops};
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_domain::{Clock, ProxySecret};
use launcher_process::health::Health;
use launcher_process::serve::{ServeLimits, raise_open_file_limit, serve_http};
use launcher_process::settings::unknown_names;
use launcher_process::stop::Stop;
use launcher_process::{follow, listener, telemetry};
use launcher_service::{Launcher, Snapshots};
use launcher_sidecar::follow_proxy_secret;
use launcher_store::Store;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::Cli;
use crate::settings::ServeSettings;
use crate::traces::{not_started, run_traced};
use fleet::RunningFleet;
use host_routing::Workshops;

/// Runs the service until a stop is requested.
///
/// # Errors
/// Returns one line with the reason why the service cannot start or keep running.
pub(crate) fn run(settings: ServeSettings) -> Result<(), String> {
    telemetry::init(&settings.log)?;
    raise_open_file_limit();
    run_traced(&settings.traces.clone(), "workshop-launcher", serve(settings))
}

async fn serve(mut settings: ServeSettings) -> Result<(), String> {
    warn_about(&settings);
    refuse_exposed_bypass(&settings)?;
    let stop = Stop::on_signals().map_err(not_started)?.with_drain(settings.shutdown_delay);
    let secret = read_proxy_secret(settings.api.proxy_secret_file.as_deref()).await?;
    let limits = ServeLimits { connections: settings.max_connections as usize, ..ServeLimits::service() };
    // Listen before any process is started, so that a port in use is found early. Clients that connect early wait until
    // the service is ready.
    let listener = listen("SERVICE_LISTEN_ADDR", settings.listen_addr, &limits)?;
    let telemetry = listen("SERVICE_TELEMETRY_ADDR", settings.telemetry_addr, &ServeLimits::telemetry())?;
    let port = listener.local_addr().map_err(not_started)?.port();
    settings.api.public_url.get_or_insert_with(|| format!("http://localhost:{port}"));
    let origin: http::Uri = settings.api.origin().parse().map_err(|error| {
        format!("SERVICE_PUBLIC_URL is not a URL: {error}; write it as in https://workshops.example.org")
    })?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store = Store::open(&settings.database.url()).await;
    let store = store.map_err(|error| format!("the database cannot be used: {error}"))?;
    let snapshots = settings.snapshots.open().map_err(|error| format!("SERVICE_SNAPSHOT_STORE: {error}"))?;
    let saved_files = snapshots.as_ref().map(Snapshots::saved_files);
    let fleet =
        RunningFleet::open(&settings, &origin, secret.clone(), saved_files, clock.clone(), stop.clone()).await?;
    let policy = settings.database.policy();
    let entropy = Arc::new(SystemEntropy);
    let launcher = Launcher::new(store.clone(), fleet.ports(), clock, entropy, settings.limits, policy, snapshots);
    launcher.claim_fleet().await.map_err(|error| error.to_string())?;
    let seeded = seeds::seed_templates(&launcher, &settings).await;
    seeded.map_err(|error| format!("SERVICE_SEED_TEMPLATES: {error}"))?;

    let metrics = Metrics::default();
    let process = ApiProcess {
        proxy_secret: secret.clone(),
        metrics: metrics.clone(),
        stop: stop.token(),
        shares_one_user: settings.shares_one_user(),
        ignored_fields: settings.fleet.ignored_fields(),
        routing_delay: settings.fleet.routing_delay(),
    };
    let router = launcher_api::router(launcher.clone(), settings.api.clone(), process);
    let stopped = StoppedWorkshops::new(launcher.clone(), settings.api.clone(), secret.clone());
    let loops_stop = CancellationToken::new();
    let mut loops = tokio::spawn({
        let (launcher, stop) = (launcher.clone(), loops_stop.clone());
        async move { launcher.run(stop).await }
    });
    if let (Some(path), Some(secret)) = (settings.api.proxy_secret_file.clone(), secret) {
        let reload = async move { follow_proxy_secret(&path, &secret).await };
        tokio::spawn(loops_stop.clone().run_until_cancelled_owned(reload));
    }
    let health_stop = Stop::new();
    let health = tokio::spawn(health(launcher, &metrics, stop.clone()).serve(telemetry, health_stop.clone()));
    let workshops = fleet.gateway().map(|gateway| Workshops { gateway, stopped });
    let server = serve_http(listener, stop.clone(), limits, move |request, peer| {
        host_routing::route(router.clone(), workshops.clone(), request, peer.ip())
    });
    tracing::info!(url = %settings.api.origin(), "launcher ready");
    let crashed = tokio::select! {
        () = server => None,
        _ = &mut loops => Some("reconcile loops"),
    };

    // Stop order: refuse new requests, finish those in flight, stop the loops, then the workshops, then the database.
    if !stop.finish(settings.shutdown_grace).await {
        tracing::warn!(
            "closing connections with unfinished requests: grace period over or second stop signal received"
        );
    }
    loops_stop.cancel();
    if crashed.is_none() && loops.await.is_err() {
        tracing::error!("reconcile loops crashed while stopping; the next start continues their work");
    }
    fleet.stop().await;
    store.close().await;
    health_stop.request();
    drop(health.await);
    tracing::info!("launcher stopped");
    crashed.map_or(Ok(()), |part| Err(format!("the {part} stopped unexpectedly")))
}

fn listen(setting: &str, addr: SocketAddr, limits: &ServeLimits) -> Result<TcpListener, String> {
    listener::listen(addr, &limits.listen_options()).map_err(|error| {
        format!("{setting} {addr} cannot be listened on: {error}; stop what listens there, or choose another address")
    })
}

fn health(launcher: Launcher, api: &Metrics, stop: Stop) -> Health {
    let mut metrics = Registry::default();
    launcher.register_metrics(&mut metrics);
    api.register(&mut metrics);
    let ready = move || {
        let launcher = launcher.clone();
        async move { launcher.ready().await.map_err(|error| error.to_string()) }
    };
    Health::new(ready, metrics, stop)
}

/// # Errors
/// Every client of the network would get the development identity.
pub(crate) fn refuse_exposed_bypass(settings: &ServeSettings) -> Result<(), String> {
    let addr = settings.listen_addr;
    if !settings.api.exposes_bypass(addr) {
        return Ok(());
    }
    Err(format!(
        "AUTHENTICATION IS OFF, and SERVICE_LISTEN_ADDR {addr} can be reached by other machines: every client would \
         get the identity SERVICE_DEV_IDENTITY. Listen on 127.0.0.1. To accept this risk, set \
         SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS=true"
    ))
}

/// Reads the proxy secret. Returns `None` if no file is configured.
///
/// # Errors
/// Returns one line that names the file. It never quotes the content of the file.
pub(crate) async fn read_proxy_secret(path: Option<&Path>) -> Result<Option<ProxySecret>, String> {
    let Some(path) = path else { return Ok(None) };
    let named = format!("SERVICE_PROXY_SECRET_FILE: {}", path.display());
    let text = follow::read(path).await.map_err(|error| {
        format!(
            "{named} cannot be read: {error}; write one secret per line into it, for example the output of \
             `openssl rand -hex 32`, and let this user read it"
        )
    })?;
    ProxySecret::parse(&text).map(Some).map_err(|error| format!("{named} cannot be used: {error}"))
}

/// Returns a warning if every user of this machine can read the file of the proxy secret.
pub(crate) fn readable_by_others(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o004 != 0).then(|| {
        format!(
            "SERVICE_PROXY_SECRET_FILE: every user of this machine can read {path}, and can then claim any identity; \
             run chmod o= {path}",
            path = path.display()
        )
    })
}

/// Warning that the local fleet does not isolate workshops of users who do not trust each other.
pub(crate) const NOT_ISOLATED: &str = "the local fleet does not isolate users: any user who launches a workshop can \
     read all files that this OS user can read, and apps other than JupyterLab answer every user of this machine. If \
     users do not trust each other, run workshops on Kubernetes";

/// Logs warnings about settings that are valid but risky or without effect.
fn warn_about(settings: &ServeSettings) {
    for name in unknown_names::<Cli>(std::env::vars_os()) {
        tracing::warn!(%name, "ignoring unknown setting; `launcher serve --help` lists all settings");
    }
    match (settings.api.require_authentication, &settings.api.dev_identity) {
        (false, Some(email)) => tracing::warn!(
            %email,
            "AUTHENTICATION IS OFF: every request gets this identity; never in production"
        ),
        (false, None) => tracing::warn!(
            "SERVICE_REQUIRE_AUTHENTICATION is false, but SERVICE_DEV_IDENTITY is not set: requests without an \
             identity are still refused"
        ),
        (true, Some(_)) => {
            tracing::warn!("ignoring SERVICE_DEV_IDENTITY: SERVICE_REQUIRE_AUTHENTICATION is true")
        }
        (true, None) if settings.api.proxy_secret_file.is_none() => tracing::warn!(
            "SERVICE_PROXY_SECRET_FILE is not set: a client that bypasses the auth proxy can forge the identity header"
        ),
        (true, None) => {}
    }
    if let Some(warning) = settings.api.proxy_secret_file.as_deref().and_then(readable_by_others) {
        tracing::warn!("{warning}");
    }
    if settings.shares_one_user() {
        tracing::warn!("authentication is required, but {NOT_ISOLATED}");
    }
    if settings.api.admin_emails.is_empty() {
        tracing::warn!("SERVICE_ADMIN_EMAILS is empty: no user is an admin, so templates cannot be managed");
    }
}
