//! Settings of `launcher-sidecar wait-isolated`.

use std::path::PathBuf;
use std::time::Duration;

use launcher_process::telemetry::LogSettings;

/// Waits until the network enforces the pod's network policies, for an init container: ends with 0 once an address that the
/// policies forbid cannot be reached, with 3 and the word network-not-isolated when that never becomes true
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar wait-isolated", version)]
pub struct IsolationSettings {
    /// Address that the policies forbid and where something listens; the cluster's API server when not given
    #[arg(long, env = "SERVICE_FORBIDDEN_ADDR", value_name = "HOST:PORT")]
    forbidden_addr: Option<String>,

    /// Seconds to wait at most
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", value_name = "SECONDS", default_value = "30",
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    isolation_timeout: u32,

    /// File with the name servers; one that answers shows that the network is up
    #[arg(long, env = "SERVICE_RESOLV_CONF", value_name = "FILE", default_value = "/etc/resolv.conf")]
    pub(super) resolv_conf: PathBuf,

    /// File that gets the reason of a failure, for Kubernetes to show
    #[arg(long, env = "SERVICE_TERMINATION_LOG", value_name = "FILE", default_value = "/dev/termination-log")]
    pub termination_log: PathBuf,

    /// Host of the API server, as Kubernetes sets it in each container
    #[arg(long, env = "KUBERNETES_SERVICE_HOST", value_name = "HOST", hide = true)]
    kubernetes_host: Option<String>,

    /// Port of the API server, as Kubernetes sets it in each container
    #[arg(long, env = "KUBERNETES_SERVICE_PORT", value_name = "PORT", default_value = "443", hide = true)]
    kubernetes_port: u16,

    /// How logs are written
    #[command(flatten)]
    pub logs: LogSettings,
}

impl IsolationSettings {
    /// Returns the address as HOST:PORT; `None` outside of a cluster if none is configured.
    pub(super) fn forbidden_address(&self) -> Option<String> {
        let api_server = || {
            let host = self.kubernetes_host.as_deref()?;
            let port = self.kubernetes_port;
            Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
        };
        self.forbidden_addr.clone().or_else(api_server)
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.isolation_timeout.into())
    }
}
