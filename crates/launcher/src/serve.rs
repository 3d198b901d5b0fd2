//! `launcher serve`: connects the crates, starts them, and stops them in order.

pub(crate) mod fleet;
mod host_routing;
pub(crate) mod seeds;

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use launcher_api::{ApiProcess, Metrics, StoppedWorkshops};
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_domain::identity::ProxySecretError;
use launcher_domain::{Clock, ProxySecret};
use launcher_process::health::Health;
use launcher_process::serve::{ServeLimits, raise_open_file_limit, serve_http};
use launcher_process::settings::unknown_names;
use launcher_process::stop::Stop;
use launcher_process::{follow, listener, telemetry};
use launcher_service::{ClaimError, Launcher, Snapshots};
use launcher_store::{Store, StoreError};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::Cli;
use crate::settings::ServeSettings;
use crate::traces::{TraceError, Traces};
use fleet::{OpenFleetError, RunningFleet};
use host_routing::Workshops;

/// Reasons why the service cannot start or keep running. Each message is one line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("SERVICE_LOG cannot be read: {0}")]
    Log(#[from] tracing_subscriber::filter::ParseError),
    #[error("the runtime cannot be started: {0}")]
    Runtime(io::Error),
    #[error("{setting} {addr} cannot be listened on: {error}; stop what listens there, or choose another address")]
    Listen { setting: &'static str, addr: SocketAddr, error: io::Error },
    #[error("SERVICE_PUBLIC_URL is not a URL: {0}; write it as in https://workshops.example.org")]
    PublicUrl(http::uri::InvalidUri),
    #[error("the database cannot be used: {0}")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Fleet(#[from] OpenFleetError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Traces(#[from] TraceError),
    #[error(
        "AUTHENTICATION IS OFF, and SERVICE_LISTEN_ADDR {0} can be reached by other machines: every client would \
         get the identity SERVICE_DEV_IDENTITY. Listen on 127.0.0.1. To accept this risk, set \
         SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS=true"
    )]
    Exposed(SocketAddr),
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    #[error("SERVICE_SNAPSHOT_STORE: {0}")]
    Snapshots(#[from] launcher_snapshots::StoreError),
    #[error("SERVICE_SEED_TEMPLATES: {0}")]
    Seeds(#[from] seeds::SeedError),
    #[error("the {0} stopped unexpectedly")]
    Crashed(&'static str),
}

/// Runs the service until a stop is requested.
pub(crate) fn run(settings: ServeSettings) -> Result<(), ServeError> {
    telemetry::init(&settings.log)?;
    raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    // Declared after the runtime, so dropped before it: sending the last spans needs the runtime.
    let _traces = {
        let _within = runtime.enter();
        Traces::start(&settings.traces, "workshop-launcher")?
    };
    runtime.block_on(serve(settings))
}

async fn serve(mut settings: ServeSettings) -> Result<(), ServeError> {
    warn_about(&settings);
    refuse_exposed_bypass(&settings)?;
    let stop = Stop::on_signals().map_err(ServeError::Runtime)?.with_drain(settings.shutdown_delay);
    let secret = read_proxy_secret(settings.api.proxy_secret_file.as_deref()).await?;
    let limits = ServeLimits { connections: settings.max_connections as usize, ..ServeLimits::service() };
    // Listen before any process is started, so that a port in use is found early. Clients that connect early wait until
    // the service is ready.
    let listener = listen("SERVICE_LISTEN_ADDR", settings.listen_addr, &limits)?;
    let telemetry = listen("SERVICE_TELEMETRY_ADDR", settings.telemetry_addr, &ServeLimits::telemetry())?;
    let port = listener.local_addr().map_err(ServeError::Runtime)?.port();
    settings.api.public_url.get_or_insert_with(|| format!("http://localhost:{port}"));
    let origin = settings.api.origin().parse().map_err(ServeError::PublicUrl)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store = Store::open(&settings.database.url()).await?;
    let snapshots = settings.snapshots.open()?;
    let saved_files = snapshots.as_ref().map(Snapshots::saved_files);
    let fleet =
        RunningFleet::open(&settings, &origin, secret.clone(), saved_files, clock.clone(), stop.clone()).await?;
    let policy = settings.database.policy();
    let entropy = Arc::new(SystemEntropy);
    let launcher = Launcher::new(store.clone(), fleet.ports(), clock, entropy, settings.limits, policy, snapshots);
    launcher.claim_fleet().await?;
    seeds::seed_templates(&launcher, &settings).await?;

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
    let secret_file = reload_secret_on_change(settings.api.proxy_secret_file.clone(), secret);
    tokio::spawn(loops_stop.clone().run_until_cancelled_owned(secret_file));
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
    crashed.map_or(Ok(()), |part| Err(ServeError::Crashed(part)))
}

fn listen(setting: &'static str, addr: SocketAddr, limits: &ServeLimits) -> Result<TcpListener, ServeError> {
    listener::listen(addr, &limits.listen_options()).map_err(|error| ServeError::Listen { setting, addr, error })
}

fn health(launcher: Launcher, api: &Metrics, stop: Stop) -> Health {
    let mut metrics = Registry::default();
    launcher.register_metrics(&mut metrics);
    api.register(&mut metrics);
    let ready = Arc::new(move || {
        let launcher = launcher.clone();
        let check = async move { launcher.ready().await.map_err(|error| error.to_string()) };
        Box::pin(check) as std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + Send>>
    });
    Health::new(ready, metrics, stop)
}

fn refuse_exposed_bypass(settings: &ServeSettings) -> Result<(), ServeError> {
    if settings.api.exposes_bypass(settings.listen_addr) {
        Err(ServeError::Exposed(settings.listen_addr))
    } else {
        Ok(())
    }
}

/// Reasons why the proxy secret file cannot be used. The message never quotes the content of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretFileError {
    #[error(
        "SERVICE_PROXY_SECRET_FILE: {path} cannot be read: {error}; write one secret per line into it, for example the \
         output of `openssl rand -hex 32`, and let this user read it"
    )]
    Read { path: PathBuf, error: io::Error },
    #[error("SERVICE_PROXY_SECRET_FILE: {path} cannot be used: {error}")]
    Invalid { path: PathBuf, error: ProxySecretError },
}

/// Reads the proxy secret. Returns `None` if no file is configured.
pub(crate) async fn read_proxy_secret(path: Option<&Path>) -> Result<Option<ProxySecret>, SecretFileError> {
    let Some(path) = path else { return Ok(None) };
    let text = follow::read(path).await.map_err(|error| SecretFileError::Read { path: path.to_owned(), error })?;
    let secret =
        ProxySecret::parse(&text).map_err(|error| SecretFileError::Invalid { path: path.to_owned(), error })?;
    Ok(Some(secret))
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

/// Replaces the proxy secret whenever its file changes. Never returns.
async fn reload_secret_on_change(path: Option<PathBuf>, secret: Option<ProxySecret>) {
    match (path, secret) {
        (Some(path), Some(secret)) => {
            follow::follow(&path, "proxy secret", |text| secret.replace(text)).await;
        }
        _ => std::future::pending().await,
    }
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
