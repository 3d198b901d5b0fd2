//! The settings of `launcher serve`, as flags and environment variables: those of the program, and of its parts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum, value_parser};
use launcher_api::ApiSettings;
use launcher_domain::network::{Network, parse_network};
use launcher_domain::{PodTemplatePolicy, Sizes, TemplatePolicy};
use launcher_fleet::{ContainerOptions, LocalPrograms};
use launcher_process::serve::DEFAULT_CONNECTIONS;
use launcher_process::settings::{parse_domain, parse_namespace};
use launcher_process::telemetry::LogSettings;
use launcher_service::{Limits, SnapshotSettings};

use crate::traces::TraceSettings;

/// Settings of the service. The comment of a field is its help text.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServeSettings {
    /// Listen address of the API and the pages
    #[arg(long, env = "SERVICE_LISTEN_ADDR", default_value = "127.0.0.1:8000", value_name = "ADDR")]
    pub(crate) listen_addr: SocketAddr,

    /// Listen address of /healthz, /readyz and /metrics; never expose it
    #[arg(long, env = "SERVICE_TELEMETRY_ADDR", default_value = "127.0.0.1:9090", value_name = "ADDR")]
    pub(crate) telemetry_addr: SocketAddr,

    #[command(flatten)]
    pub(crate) api: ApiSettings,

    /// Prefix of the login proxy's cookies; workshops can neither see nor set them
    #[arg(long, env = "SERVICE_SESSION_COOKIE_PREFIX", default_value = "_oauth2_proxy", value_name = "PREFIX")]
    pub(crate) session_cookie_prefix: String,

    #[command(flatten)]
    pub(crate) database: DatabaseSettings,

    /// JSON file of templates to create at the start, unless they exist or existed; default: none
    #[arg(long, env = "SERVICE_SEED_TEMPLATES", value_name = "FILE")]
    pub(crate) seed_templates: Option<PathBuf>,

    /// Fleet that runs the workshops
    #[arg(long, env = "SERVICE_FLEET", default_value = "local", value_name = "FLEET")]
    pub(crate) fleet: FleetKind,

    /// Namespace of the Workshops, with the fleet kubernetes; default: the namespace that the service runs in
    #[arg(long, env = "SERVICE_NAMESPACE", value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,

    /// Namespaces that classes can have, with the fleet kubernetes, separated by commas; the operator needs the same value
    #[arg(long, env = "SERVICE_CLASS_NAMESPACES", value_name = "NAMESPACES", value_delimiter = ',', value_parser = parse_namespace)]
    pub(crate) class_namespaces: Vec<String>,

    /// Public IPv4 networks that checks of course material do not reach, with the fleet kubernetes, separated by commas
    #[arg(long, env = "SERVICE_MATERIAL_CHECK_EXCEPT", value_name = "NETWORKS", value_delimiter = ',', value_parser = parse_network)]
    pub(crate) material_check_except: Vec<Network>,

    /// Domain whose subdomains are the workshops, with the fleets local and containers; the operator has its own setting
    #[arg(long, env = "SERVICE_WORKSHOP_DOMAIN", default_value = "localhost", value_name = "DOMAIN",
          value_parser = parse_domain)]
    pub(crate) workshop_domain: String,

    #[command(flatten)]
    pub(crate) programs: LocalPrograms,

    #[command(flatten)]
    pub(crate) containers: ContainerOptions,

    #[command(flatten)]
    pub(crate) limits: Limits,

    /// Maximum number of open connections; each takes up to 96 KiB of memory
    #[arg(long, env = "SERVICE_MAX_CONNECTIONS", default_value_t = DEFAULT_CONNECTIONS as u32, value_name = "COUNT",
          value_parser = value_parser!(u32).range(64..=65_536))]
    pub(crate) max_connections: u32,

    #[command(flatten)]
    pub(crate) snapshots: SnapshotSettings,

    /// Time after a stop signal in which the service still accepts requests
    #[arg(long, env = "SERVICE_SHUTDOWN_DELAY", default_value = "1", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(..=3600).map(Duration::from_secs))]
    pub(crate) shutdown_delay: Duration,

    /// Time after the shutdown delay in which requests in flight may finish
    #[arg(long, env = "SERVICE_SHUTDOWN_GRACE", default_value = "25", value_name = "SECONDS",
          value_parser = value_parser!(u64).map(Duration::from_secs))]
    pub(crate) shutdown_grace: Duration,

    #[command(flatten)]
    pub(crate) traces: TraceSettings,

    #[command(flatten)]
    pub(crate) log: LogSettings,
}

/// Settings of the commands that use the database without the service. The comment of a field is its help text.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseSettings {
    /// Directory of the database and of local workshops
    #[arg(long, env = "SERVICE_DATA_DIR", default_value = "./data", value_name = "DIR")]
    pub(crate) data_dir: PathBuf,

    /// Database, as a sqlite: or postgres: URL; default: the SQLite file launcher.db in the data directory
    #[arg(long, env = "SERVICE_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// Names that pod templates may use, as kind/name separated by commas; the operator needs the same value
    #[arg(long, env = "SERVICE_POD_TEMPLATE_ALLOW", default_value = PodTemplatePolicy::DEFAULT, value_name = "NAMES",
          value_parser = PodTemplatePolicy::parse)]
    pub(crate) pod_template_allow: PodTemplatePolicy,

    /// Sizes that the template editor offers, as a JSON list; default: small, medium and large
    #[arg(long, env = "SERVICE_SIZES", default_value = Sizes::DEFAULT, value_name = "SIZES", value_parser = Sizes::parse,
          hide_default_value = true)]
    pub(crate) sizes: Sizes,
}

impl DatabaseSettings {
    /// Returns the URL of the database: the setting, or a SQLite file in the data directory if it is not set.
    pub(crate) fn url(&self) -> String {
        let file = || format!("sqlite:{}", self.data_dir.join("launcher.db").display());
        self.database_url.clone().unwrap_or_else(file)
    }

    /// Returns what templates may use.
    pub(crate) fn policy(&self) -> TemplatePolicy {
        TemplatePolicy { pod_templates: self.pod_template_allow.clone(), sizes: self.sizes.clone() }
    }
}

impl ServeSettings {
    /// Returns true if workshops of several people run as one OS user.
    pub(crate) fn shares_one_user(&self) -> bool {
        self.fleet.shares_one_user() && self.api.require_authentication
    }
}

/// The fleet adapter that turns Workshops into running workloads. Code that depends on the kind matches on all kinds: here,
/// in `serve/fleet.rs` or in the doctor. The compiler then reports each place that must handle a new kind.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FleetKind {
    /// Processes of this machine, without isolation between users: for development and one trusted person
    Local,
    /// Containers of Docker or Podman on this machine, isolated from each other
    Containers,
    /// Pods on Kubernetes, which `launcher operator` runs
    Kubernetes,
}

impl FleetKind {
    /// Returns true if all workshops run as one OS user of one machine.
    pub(crate) fn shares_one_user(self) -> bool {
        match self {
            Self::Local => true,
            Self::Containers | Self::Kubernetes => false,
        }
    }

    /// Returns the fields of a template that the fleet ignores, by their names in the API.
    pub(crate) fn ignored_fields(self) -> &'static [&'static str] {
        match self {
            Self::Local => &[
                "image",
                "port",
                "cpu_request",
                "cpu_limit",
                "memory_request",
                "memory_limit",
                "security_profile",
                "pod_template",
                "storage_size",
                "storage_path",
                "material_directory",
            ],
            Self::Containers => &["pod_template", "storage_size"],
            Self::Kubernetes => &[],
        }
    }

    /// Returns the time from ready until the URL of a workshop answers.
    pub(crate) fn routing_delay(self) -> Duration {
        match self {
            // The gateway knows a workshop as soon as it is ready.
            Self::Local | Self::Containers => Duration::ZERO,
            // Traefik applies changes every two seconds by default, and answers 404 before.
            Self::Kubernetes => Duration::from_secs(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FleetKind;

    #[test]
    fn only_kubernetes_fleet_uses_pod_template() {
        assert!(FleetKind::Local.ignored_fields().contains(&"pod_template"));
        assert_eq!(FleetKind::Containers.ignored_fields(), ["pod_template", "storage_size"]);
        assert!(FleetKind::Kubernetes.ignored_fields().is_empty());
    }
}
