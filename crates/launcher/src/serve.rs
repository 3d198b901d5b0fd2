//! `launcher serve`: connects the crates, and stops them in order.

mod host_routing;
pub(crate) mod secret;
pub(crate) mod seeds;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use launcher_api::{ApiSettings, Metrics};
use launcher_domain::Clock;
use launcher_domain::clock::{SystemClock, SystemEntropy};
use launcher_fleet::{Fleet, KubernetesFleet, LocalFleet, LocalSettings};
use launcher_process::files;
use launcher_process::health::Health;
use launcher_process::listen;
use launcher_process::serve::{ServeLimits, serve_http_within};
use launcher_process::settings::unknown_names;
use launcher_process::stop::Stop;
use launcher_process::telemetry;
use launcher_service::{ClaimError, Launcher};
use launcher_store::{Store, StoreError};
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Cli;
use crate::cluster::{self, ClusterError};
use crate::settings::{FleetKind, ServeSettings};
use crate::traces::{TraceError, Traces};

/// Grace period for an app to end before it is killed.
const APP_GRACE: Duration = Duration::from_secs(5);

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
    #[error("the local fleet cannot be used: {0}")]
    LocalFleet(#[from] launcher_fleet::LocalFleetError),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Traces(#[from] TraceError),
    #[error(
        "AUTHENTICATION IS OFF, and SERVICE_LISTEN_ADDR {0} can be reached by other machines: everybody there would be \
         SERVICE_DEV_IDENTITY. Listen on 127.0.0.1, or set SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS=true if that is \
         wanted"
    )]
    Exposed(SocketAddr),
    #[error(transparent)]
    Secret(#[from] secret::SecretFileError),
    #[error("SERVICE_SEED_TEMPLATES: {0}")]
    Seeds(#[from] seeds::SeedError),
    #[error("the {0} stopped unexpectedly")]
    Crashed(&'static str),
}

/// Serves until a stop is requested.
pub(crate) fn run(settings: ServeSettings) -> Result<(), ServeError> {
    telemetry::init(&settings.log)?;
    files::raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(ServeError::Runtime)?;
    // Dropped before the runtime, which is needed to send the last spans.
    let _traces = {
        let _within = runtime.enter();
        Traces::start(&settings.traces, "workshop-launcher")?
    };
    runtime.block_on(serve(settings))
}

async fn serve(settings: ServeSettings) -> Result<(), ServeError> {
    warn_about(&settings);
    refuse_exposed_bypass(&settings)?;
    let drain = Duration::from_secs(settings.shutdown_delay);
    let stop = Stop::on_signals().map_err(ServeError::Runtime)?.with_drain(drain);
    // Listen before any process is started, so that a port in use is found early. Clients that connect meanwhile wait,
    // and are answered as soon as the service is ready.
    let secret = secret::read(settings.proxy_secret_file.as_deref()).await?;
    let limits = ServeLimits { connections: settings.max_connections as usize, ..ServeLimits::service() };
    let listener = listen("SERVICE_LISTEN_ADDR", settings.listen_addr, &limits)?;
    let telemetry = listen("SERVICE_TELEMETRY_ADDR", settings.telemetry_addr, &ServeLimits::telemetry())?;
    let public_url = public_url(&settings, &listener)?;
    let origin = public_url.parse().map_err(ServeError::PublicUrl)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let store = Store::open(&settings.database_url()).await?;
    let local = match settings.fleet {
        FleetKind::Local => {
            let local = LocalSettings { proxy_secret: secret.clone(), ..local(&settings, &origin) };
            Some(LocalFleet::open(local, clock.clone(), stop.clone())?)
        }
        FleetKind::Kubernetes => None,
    };
    let fleet: Arc<dyn Fleet> = match &local {
        Some(local) => Arc::new(local.clone()),
        None => {
            let (client, namespace) = cluster::connect().await?;
            Arc::new(KubernetesFleet::new(client, settings.namespace.as_deref().unwrap_or(&namespace)))
        }
    };
    let launcher = Launcher::new(store.clone(), fleet, clock, Arc::new(SystemEntropy), settings.limits());
    launcher.claim_fleet().await?;
    seeds::seed_templates(&launcher, &settings).await?;

    let metrics = Metrics::default();
    let api =
        ApiSettings { proxy_secret: secret.clone(), ..api(&settings, public_url.clone(), metrics.clone(), &stop) };
    let router = launcher_api::router(launcher.clone(), api);
    let loops_stop = CancellationToken::new();
    let mut loops = tokio::spawn({
        let (launcher, stop) = (launcher.clone(), loops_stop.clone());
        async move { launcher.run(stop).await }
    });
    let secret_file = secret::reload_on_change(settings.proxy_secret_file.clone(), secret);
    tokio::spawn(loops_stop.clone().run_until_cancelled_owned(secret_file));
    let health_stop = Stop::new();
    let health = tokio::spawn(health(launcher, &metrics, stop.clone()).serve(telemetry, health_stop.clone()));
    let gateway = local.as_ref().map(LocalFleet::gateway);
    let server = serve_http_within(listener, stop.clone(), limits, move |request, peer| {
        host_routing::route(router.clone(), gateway.clone(), request, peer.ip())
    });
    tracing::info!(url = %public_url, "launcher ready");
    let crashed = tokio::select! {
        () = server => None,
        _ = &mut loops => Some("reconcile loops"),
    };

    // Stop order: refuse new requests, finish those in flight, end the loops, then the workshops, then the database.
    if !stop.finish(Duration::from_secs(settings.shutdown_grace)).await {
        tracing::warn!("stopping with requests still in flight");
    }
    loops_stop.cancel();
    if crashed.is_none() && loops.await.is_err() {
        tracing::error!("reconcile loops crashed");
    }
    if let Some(local) = local {
        local.stop().await;
    }
    store.close().await;
    health_stop.request();
    drop(health.await);
    tracing::info!("launcher stopped");
    crashed.map_or(Ok(()), |part| Err(ServeError::Crashed(part)))
}

fn listen(setting: &'static str, addr: SocketAddr, limits: &ServeLimits) -> Result<TcpListener, ServeError> {
    listen::listen(addr, &limits.listen_options()).map_err(|error| ServeError::Listen { setting, addr, error })
}

fn public_url(settings: &ServeSettings, listener: &TcpListener) -> Result<String, ServeError> {
    let port = listener.local_addr().map_err(ServeError::Runtime)?.port();
    Ok(settings.public_url.clone().unwrap_or_else(|| format!("http://localhost:{port}")))
}

/// Returns the settings of the local fleet, without the proxy secret.
pub(crate) fn local(settings: &ServeSettings, public_url: &Uri) -> LocalSettings {
    LocalSettings {
        data_dir: settings.data_dir.clone(),
        public_origin: public_url.clone(),
        workshop_domain: settings.workshop_domain.clone(),
        jupyter: settings.local_jupyter.clone(),
        rstudio: settings.local_rstudio.clone(),
        // This running program, even after an upgrade has replaced its file.
        keeper: "/proc/self/exe".into(),
        start_timeout: settings.limits().start_timeout,
        stop_grace: APP_GRACE,
        trusted_header: settings.trusted_auth_header.clone(),
        proxy_secret: None,
        require_authentication: settings.require_authentication,
        session_cookie_prefix: settings.session_cookie_prefix.clone(),
    }
}

fn api(settings: &ServeSettings, public_url: String, metrics: Metrics, stop: &Stop) -> ApiSettings {
    ApiSettings {
        admins: settings.admin_emails.clone(),
        trusted_header: settings.trusted_auth_header.clone(),
        proxy_secret: None,
        dev_identity: settings.bypass().cloned(),
        base_path: settings.base_path.clone(),
        public_url,
        login_url: settings.login_url.clone(),
        logout_url: settings.logout_url.clone(),
        metrics,
        stop: stop.token(),
        shares_one_user: shares_one_user(settings),
    }
}

/// Warning that a local fleet does not isolate people who do not trust each other.
pub(crate) const NOT_ISOLATED: &str = "the local fleet does not isolate users: any user who launches a workshop can \
     read all files that this OS user can read, and apps other than JupyterLab answer every user of this machine. If \
     users do not trust each other, run workshops on Kubernetes";

/// Returns true if workshops of several people run as this one OS user.
pub(crate) fn shares_one_user(settings: &ServeSettings) -> bool {
    settings.fleet == FleetKind::Local && settings.require_authentication
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
    if settings.exposes_bypass() { Err(ServeError::Exposed(settings.listen_addr)) } else { Ok(()) }
}

fn warn_about(settings: &ServeSettings) {
    for name in unknown_names::<Cli>(std::env::vars_os()) {
        tracing::warn!(%name, "ignoring unknown setting; `launcher serve --help` lists all settings");
    }
    match (settings.require_authentication, &settings.dev_identity) {
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
        (true, None) if settings.proxy_secret_file.is_none() => tracing::warn!(
            "SERVICE_PROXY_SECRET_FILE is not set: a client that bypasses the auth proxy can forge the identity header"
        ),
        (true, None) => {}
    }
    if shares_one_user(settings) {
        tracing::warn!("authentication is required, but {NOT_ISOLATED}");
    }
    if settings.admin_emails.is_empty() {
        tracing::warn!("SERVICE_ADMIN_EMAILS is empty: no user is an admin, so templates cannot be managed");
    }
}
