//! The settings of `launcher serve`, as flags and environment variables.

mod container_settings;
mod fleet_kind;
mod limits;
mod snapshots;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use http::Uri;
use launcher_domain::access::AdminListError;
use launcher_domain::identity::{TrustedHeader, TrustedHeaderError};
use launcher_domain::local_path::LocalPath;
use launcher_domain::{AdminList, EmailAddress, Limits, PodTemplatePolicy};
use launcher_process::serve::DEFAULT_CONNECTIONS;
use launcher_process::settings::parse_bool;
use launcher_process::telemetry::LogSettings;

use crate::traces::TraceSettings;
pub(crate) use container_settings::ContainerOptions;
pub(crate) use fleet_kind::FleetKind;
use snapshots::SnapshotOptions;

/// Default base path of the API (SERVICE_BASE_PATH).
pub(crate) const BASE_PATH: &str = "/api/v1";

/// Settings of the service.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeSettings {
    /// Listen address of the API and the pages
    #[arg(long, env = "SERVICE_LISTEN_ADDR", default_value = "127.0.0.1:8000", value_name = "ADDR")]
    pub(crate) listen_addr: SocketAddr,

    /// Listen address of /healthz, /readyz and /metrics; never expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9090", value_name = "ADDR")]
    pub(crate) telemetry_addr: SocketAddr,

    /// Path of the API; begins with /api
    #[arg(long, env = "SERVICE_BASE_PATH", default_value = BASE_PATH, value_name = "PATH", value_parser = base_path)]
    pub(crate) base_path: String,

    /// Public address of the service, as scheme://host[:port]; default: http://localhost with the listener's port
    #[arg(long, env = "SERVICE_PUBLIC_URL", value_name = "ORIGIN", value_parser = origin)]
    pub(crate) public_url: Option<String>,

    /// Header in which the auth proxy sends the caller's e-mail address
    #[arg(long, env = "SERVICE_TRUSTED_AUTH_HEADER", default_value = TrustedHeader::DEFAULT, value_name = "NAME",
          value_parser = trusted_header)]
    pub(crate) trusted_auth_header: TrustedHeader,

    /// File with the secret that the auth proxy sends as X-Auth-Request-Proof, one per line; default: none
    #[arg(long, env = "SERVICE_PROXY_SECRET_FILE", value_name = "FILE")]
    pub(crate) proxy_secret_file: Option<PathBuf>,

    /// Refuse callers without an identity from the auth proxy; false only for development
    #[arg(long, env = "SERVICE_REQUIRE_AUTHENTICATION", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) require_authentication: bool,

    /// Identity of every caller while authentication is not required; only for development
    #[arg(long, env = "SERVICE_DEV_IDENTITY", value_name = "EMAIL", value_parser = EmailAddress::parse)]
    pub(crate) dev_identity: Option<EmailAddress>,

    /// Allow a listen address that other machines reach, while authentication is not required
    #[arg(long, env = "SERVICE_ALLOW_UNAUTHENTICATED_NETWORK_ACCESS", default_value = "false", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub(crate) allow_unauthenticated_network_access: bool,

    /// E-mail addresses of the admins, separated by commas; default: none
    #[arg(long, env = "SERVICE_ADMIN_EMAILS", default_value = "", value_name = "EMAILS", value_parser = admin_list,
          hide_default_value = true)]
    pub(crate) admin_emails: AdminList,

    /// Address at which a browser logs in: a path of this site, or a URL
    #[arg(long, env = "SERVICE_LOGIN_URL", default_value = "/oauth2/start", value_name = "URL", value_parser = link)]
    pub(crate) login_url: String,

    /// Address at which a browser logs out: a path of this site, or a URL; default: none, pages have no logout link
    #[arg(long, env = "SERVICE_LOGOUT_URL", value_name = "URL", value_parser = link)]
    pub(crate) logout_url: Option<String>,

    /// Address at which users get help: a path of this site, a URL, or mailto: with an e-mail address; default: none,
    /// pages have no help link
    #[arg(long, env = "SERVICE_HELP_URL", value_name = "URL", value_parser = help_link)]
    pub(crate) help_url: Option<String>,

    /// Prefix of the login proxy's cookies; workshops can neither see nor set them
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    pub(crate) session_cookie_prefix: String,

    /// Directory of the database and of local workshops
    #[arg(long, env = "SERVICE_DATA_DIR", default_value = "./data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,

    /// Database, as a sqlite: or postgres: URL; default: the SQLite file launcher.db in the data directory
    #[arg(long, env = "SERVICE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// JSON file of templates to create at the start, unless they exist or existed; default: none
    #[arg(long, env = "SERVICE_SEED_TEMPLATES", value_name = "FILE")]
    pub(crate) seed_templates: Option<PathBuf>,

    /// Names that pod templates may use, as kind/name separated by commas; the operator needs the same value
    #[arg(long, env = "SERVICE_POD_TEMPLATE_ALLOW", default_value = PodTemplatePolicy::DEFAULT, value_name = "NAMES",
          value_parser = PodTemplatePolicy::parse)]
    pub(crate) pod_template_allow: PodTemplatePolicy,

    /// Fleet that runs the workshops
    #[arg(long, env = "SERVICE_FLEET", default_value = "local", value_name = "FLEET")]
    pub(crate) fleet: FleetKind,

    /// Namespace of the Workshops, with the fleet kubernetes; default: the namespace that the service runs in
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Domain whose subdomains are the workshops, with the fleets local and containers; the operator has its own setting
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", default_value = "localhost", value_name = "DOMAIN",
          value_parser = domain)]
    pub(crate) workshop_domain: String,

    /// JupyterLab program of the local fleet: a path, or a name in PATH
    #[arg(long, env = "SERVICE_LOCAL_JUPYTER", default_value = "jupyter-lab", value_name = "PROGRAM")]
    pub(crate) local_jupyter: PathBuf,

    /// RStudio Server program of the local fleet: a path, or a name in PATH
    #[arg(long, env = "SERVICE_LOCAL_RSTUDIO", default_value = "rserver", value_name = "PROGRAM")]
    pub(crate) local_rstudio: PathBuf,

    #[command(flatten)]
    pub(crate) containers: ContainerOptions,

    /// Maximum number of workshops per user; admins are exempt
    #[arg(long, env = "SERVICE_MAX_INSTANCES_PER_USER", default_value_t = Limits::default().max_instances_per_user,
          value_name = "COUNT")]
    pub(crate) max_instances_per_user: u32,

    /// Launches per user and minute in the long run; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_RATE", default_value_t = Limits::default().launch_rate.per_minute,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) launch_rate: u32,

    /// Launches per user at once after a pause; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_BURST", default_value_t = Limits::default().launch_rate.burst,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) launch_burst: u32,

    /// Maximum number of workshops that start at the same time; others wait in the queue
    #[arg(long, env = "SERVICE_MAX_CONCURRENT_STARTS", default_value_t = Limits::default().max_concurrent_starts,
          value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_concurrent_starts: u32,

    /// Maximum number of launches in the queue; the service refuses further ones
    #[arg(long, env = "SERVICE_MAX_QUEUED", default_value_t = Limits::default().max_queued, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_queued: u32,

    /// Maximum number of open connections; each takes up to 96 KiB of memory
    #[arg(long, env = "SERVICE_MAX_CONNECTIONS", default_value_t = DEFAULT_CONNECTIONS as u32, value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(64..=65_536))]
    pub(crate) max_connections: u32,

    /// Time in which a workshop must become ready
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value_t = Limits::default().start_timeout.as_secs(),
          value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) start_timeout: u64,

    /// Retention of ended workshops, undismissed failed workshops, and activity log entries
    #[arg(long, env = "SERVICE_HISTORY_DAYS", default_value = "30", value_name = "DAYS",
          value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) history_days: u64,

    /// Retention of volumes with users' files after their last use; 0 for no end
    #[arg(long, env = "SERVICE_VOLUME_RETENTION_DAYS", default_value = "180", value_name = "DAYS",
          value_parser = clap::value_parser!(u64).range(0..=3650))]
    pub(crate) volume_retention_days: u64,

    /// Total size of the volumes with one user's files, in GiB; 0 for no limit. Admins have no limit
    #[arg(long, env = "SERVICE_MAX_STORAGE_GIB_PER_USER", default_value = "0", value_name = "GIB",
          value_parser = clap::value_parser!(u32).range(..=1_048_576))]
    pub(crate) max_storage_gib_per_user: u32,

    #[command(flatten)]
    pub(crate) snapshots: SnapshotOptions,

    /// Time after a stop signal in which the service still accepts requests
    #[arg(long, env = "SERVICE_SHUTDOWN_DELAY", default_value = "1", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(..=3600))]
    pub(crate) shutdown_delay: u64,

    /// Time after the shutdown delay in which requests in flight may finish
    #[arg(long, env = "SERVICE_SHUTDOWN_GRACE", default_value = "25", value_name = "SECONDS")]
    pub(crate) shutdown_grace: u64,

    #[command(flatten)]
    pub(crate) traces: TraceSettings,

    #[command(flatten)]
    pub(crate) log: LogSettings,
}

impl ServeSettings {
    /// Returns the identity of every caller while the development bypass is active. The bypass is active only if both
    /// of its settings are set.
    pub(crate) fn bypass(&self) -> Option<&EmailAddress> {
        self.dev_identity.as_ref().filter(|_| !self.require_authentication)
    }

    /// Returns true if the development bypass is active, other machines can reach the service, and no setting allows
    /// that.
    pub(crate) fn exposes_bypass(&self) -> bool {
        let is_loopback = self.listen_addr.ip().to_canonical().is_loopback();
        self.bypass().is_some() && !is_loopback && !self.allow_unauthenticated_network_access
    }

    /// Returns true if workshops of several people run as one OS user.
    pub(crate) fn shares_one_user(&self) -> bool {
        self.fleet.shares_one_user() && self.require_authentication
    }

    /// Returns the URL of the database: the setting, or a SQLite file in the data directory if it is not set.
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

/// Parses a link for browsers: a path of this site, or an HTTP or HTTPS URL of another site.
fn link(text: &str) -> Result<String, &'static str> {
    let elsewhere = text.parse::<Uri>().is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    if elsewhere || LocalPath::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("write a path, as in /oauth2/start, or a URL that begins with https://")
    }
}

/// Parses a link to help: like [`link`], or an e-mail address as a link.
fn help_link(text: &str) -> Result<String, &'static str> {
    let is_email = text.strip_prefix("mailto:").is_some_and(|email| EmailAddress::parse(email).is_ok());
    if is_email || link(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err("write a URL that begins with https://, a path, or an e-mail address as in mailto:help@example.org")
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

/// Parses an origin. It has only characters that the sidecars accept in their setting `SERVICE_WORKSHOP_PAGE_URL`.
pub(crate) fn origin(text: &str) -> Result<String, &'static str> {
    let origin = text.trim_end_matches('/');
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:%[]".contains(&byte);
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(is_plain) => Ok(origin.to_ascii_lowercase()),
        _ => Err("write an origin without a path, as in https://workshops.example.org"),
    }
}
