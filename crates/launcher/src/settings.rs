//! The settings of `launcher serve`, as flags and environment variables.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use http::Uri;
use launcher_domain::caller::AdminListError;
use launcher_domain::identity::{TrustedHeader, TrustedHeaderError};
use launcher_domain::local_path::LocalPath;
use launcher_domain::{AdminList, EmailAddress, LaunchRate, Limits};
use launcher_process::serve::DEFAULT_CONNECTIONS;
use launcher_process::settings::parse_bool;
use launcher_process::telemetry::LogSettings;

use crate::traces::TraceSettings;

/// Default base path of the API (SERVICE_BASE_PATH).
pub(crate) const BASE_PATH: &str = "/api/v1";

/// The fleet adapter that turns Workshops into running workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FleetKind {
    /// Processes on this machine: isolates nobody, for development and one trusted person
    Local,
    /// Pods: Workshops of a namespace, which the operator makes run
    Kubernetes,
}

/// Settings of the service.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeSettings {
    /// Where to serve the API and the pages
    #[arg(long, env = "SERVICE_LISTEN_ADDR", default_value = "127.0.0.1:8000", value_name = "ADDR")]
    pub(crate) listen_addr: SocketAddr,

    /// Where to serve /healthz, /readyz and /metrics; never expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9090", value_name = "ADDR")]
    pub(crate) telemetry_addr: SocketAddr,

    /// The path under which the API lives
    #[arg(long, env = "SERVICE_BASE_PATH", default_value = BASE_PATH, value_name = "PATH", value_parser = base_path)]
    pub(crate) base_path: String,

    /// How people reach this service, as scheme://host[:port]; http://localhost:<port> when not given
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "ORIGIN", value_parser = origin)]
    pub(crate) public_url: Option<String>,

    /// The header in which the login proxy says who is calling
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = trusted_header)]
    pub(crate) trusted_auth_header: TrustedHeader,

    /// A file with the proxy secret that the login proxy sends beside that header: one, or two while it is replaced
    #[arg(long, env = "SERVICE_PROXY_SECRET_FILE", value_name = "FILE")]
    pub(crate) proxy_secret_file: Option<PathBuf>,

    /// Whether a caller must be identified by the login proxy; false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) require_authentication: bool,

    /// Who everybody is while authentication is not required; only for development
    #[arg(long, env = "SERVICE_DEV_IDENTITY", value_name = "EMAIL", value_parser = EmailAddress::parse)]
    pub(crate) dev_identity: Option<EmailAddress>,

    /// Whether the service may listen where other machines reach it while authentication is off
    #[arg(long, env = "SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) allow_unauthenticated_network_access: bool,

    /// The e-mail addresses of the admins, separated by commas
    #[arg(long, env = "SERVICE_ADMIN_EMAILS", default_value = "", value_name = "EMAILS", value_parser = admin_list,
          hide_default_value = true)]
    pub(crate) admin_emails: AdminList,

    /// Where a browser goes to log in
    #[arg(long, env = "SERVICE_LOGIN_URL", default_value = "/oauth2/start", value_name = "URL", value_parser = link)]
    pub(crate) login_url: String,

    /// Where a browser goes to log out; no link when not given
    #[arg(long, env = "SERVICE_LOGOUT_URL", value_name = "URL", value_parser = link)]
    pub(crate) logout_url: Option<String>,

    /// Names that start with this are the login proxy's cookies: no workshop ever sees or sets them
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    pub(crate) session_cookie_prefix: String,

    /// Where the database and local workshops are kept
    #[arg(long, env = "SERVICE_DATA_DIR", default_value = "./data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,

    /// The database; a SQLite file in the data directory when not given
    #[arg(long, env = "SERVICE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// A JSON file of templates to create unless they ever existed
    #[arg(long, env = "SERVICE_SEED_TEMPLATES", value_name = "FILE")]
    pub(crate) seed_templates: Option<PathBuf>,

    /// What turns Workshops into running workloads
    #[arg(long, env = "SERVICE_FLEET", default_value = "local", value_name = "FLEET")]
    pub(crate) fleet: FleetKind,

    /// The namespace of the Workshops, for the fleet on Kubernetes; the one that the service runs in when not given
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// The domain whose subdomains are the workshops of the local fleet; the operator has a setting of its own
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", default_value = "localhost", value_name = "DOMAIN",
          value_parser = domain)]
    pub(crate) workshop_domain: String,

    /// The program of JupyterLab, for the local fleet
    #[arg(long, env = "SERVICE_LOCAL_JUPYTER", default_value = "jupyter-lab", value_name = "PROGRAM")]
    pub(crate) local_jupyter: PathBuf,

    /// The program of RStudio Server, for the local fleet
    #[arg(long, env = "SERVICE_LOCAL_RSTUDIO", default_value = "rserver", value_name = "PROGRAM")]
    pub(crate) local_rstudio: PathBuf,

    /// How many workshops one person may have at a time; admins are exempt
    #[arg(long, env = "SERVICE_MAX_INSTANCES_PER_USER", default_value_t = Limits::default().max_instances_per_user,
          value_name = "COUNT")]
    pub(crate) max_instances_per_user: u32,

    /// How many workshops one person may launch per minute in the long run; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_RATE", default_value_t = Limits::default().launch_rate.per_minute,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) launch_rate: u32,

    /// How many workshops one person may launch at once after a pause; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_BURST", default_value_t = Limits::default().launch_rate.burst,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) launch_burst: u32,

    /// How many workshops may be starting at once; more wait in line
    #[arg(long, env = "SERVICE_MAX_CONCURRENT_STARTS", default_value_t = Limits::default().max_concurrent_starts,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_concurrent_starts: u32,

    /// How many launches may wait in line before more are refused
    #[arg(long, env = "SERVICE_MAX_QUEUED", default_value_t = Limits::default().max_queued, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_queued: u32,

    /// How many connections may be open at a time; each takes up to 96 KiB of memory
    #[arg(long, env = "SERVICE_MAX_CONNECTIONS", default_value_t = DEFAULT_CONNECTIONS as u32, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(64..=65_536))]
    pub(crate) max_connections: u32,

    /// How long a workshop may take to become ready, in seconds
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value_t = Limits::default().start_timeout.as_secs(),
          value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) start_timeout: u64,

    /// How long ended workshops stay in the history, failed ones on the list, and lines in the activity log, in days
    #[arg(long, env = "SERVICE_HISTORY_DAYS", default_value = "30", value_name = "DAYS",
          value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) history_days: u64,

    /// How long the service goes on accepting requests after it said that it stops, in seconds
    #[arg(long, env = "SERVICE_SHUTDOWN_DELAY", default_value = "1", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) shutdown_delay: u64,

    /// How long requests in flight may take when the service stops, in seconds
    #[arg(long, env = "SERVICE_SHUTDOWN_GRACE", default_value = "25", value_name = "SECONDS")]
    pub(crate) shutdown_grace: u64,

    #[command(flatten)]
    pub(crate) traces: TraceSettings,

    #[command(flatten)]
    pub(crate) log: LogSettings,
}

impl ServeSettings {
    /// Returns the limits among the settings.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_instances_per_user: self.max_instances_per_user,
            launch_rate: LaunchRate { per_minute: self.launch_rate, burst: self.launch_burst },
            max_concurrent_starts: self.max_concurrent_starts,
            max_queued: self.max_queued,
            start_timeout: Duration::from_secs(self.start_timeout),
            history: Duration::from_secs(self.history_days * 24 * 3600),
        }
    }

    /// Returns the identity of every caller while the development bypass is active, which takes both of its settings.
    pub(crate) fn bypass(&self) -> Option<&EmailAddress> {
        self.dev_identity.as_ref().filter(|_| !self.require_authentication)
    }

    /// Returns true if other machines can reach the service during the development bypass, and no setting allows it.
    pub(crate) fn exposes_bypass(&self) -> bool {
        let is_loopback = self.listen_addr.ip().to_canonical().is_loopback();
        self.bypass().is_some() && !is_loopback && !self.allow_unauthenticated_network_access
    }

    /// Returns the database's URL: as given, or a file in the data directory.
    pub(crate) fn database_url(&self) -> String {
        let file = || format!("sqlite:{}", self.data_dir.join("launcher.db").display());
        self.database_url.clone().unwrap_or_else(file)
    }
}

fn admin_list(text: &str) -> Result<AdminList, AdminListError> {
    AdminList::parse(text)
}

pub(crate) fn trusted_header(text: &str) -> Result<TrustedHeader, TrustedHeaderError> {
    TrustedHeader::parse(text)
}

/// Parses the base path. It begins with `/api`, because the pages use the other paths.
fn base_path(text: &str) -> Result<String, &'static str> {
    let path = text.trim_end_matches('/');
    let segment = |segment: &str| {
        !segment.is_empty()
            && !segment.starts_with('.')
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let mut segments = path.split('/').skip(1);
    if path.starts_with("/api") && segments.all(segment) {
        Ok(path.to_owned())
    } else {
        Err("write a path that begins with /api, as in /api/v1")
    }
}

/// Parses a link for browsers: a path of this site, or an HTTP or HTTPS URL of another.
fn link(text: &str) -> Result<String, &'static str> {
    let elsewhere = text.parse::<Uri>().is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    if elsewhere || LocalPath::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("write a path, as in /oauth2/start, or a URL that begins with https://")
    }
}

/// Parses a DNS name without a port (RFC 1035, 2.3.1).
pub(crate) fn domain(text: &str) -> Result<String, &'static str> {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if text.len() <= 200 && text.split('.').all(label) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("write a domain without scheme, port or wildcard, as in workshops.example.org")
    }
}

fn origin(text: &str) -> Result<String, &'static str> {
    let origin = text.trim_end_matches('/');
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']) => Ok(origin.to_ascii_lowercase()),
        _ => Err("write an origin without a path, as in https://workshops.example.org"),
    }
}
