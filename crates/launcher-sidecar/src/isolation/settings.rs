//! Settings of `launcher-sidecar wait-isolated`.

use std::path::PathBuf;
use std::time::Duration;

use launcher_process::telemetry::LogSettings;

/// Init container mode: waits until the network enforces the pod's network policies. Exits with 0 once an address that
/// the policies forbid is unreachable, and with 3 and the message network-not-isolated if it is still reachable at the
/// timeout
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar wait-isolated", version)]
pub struct IsolationSettings {
    /// Address of a listening service that the policies forbid; default: the cluster's API server
    #[arg(long, env = "SERVICE_FORBIDDEN_ADDR", value_name = "HOST:PORT")]
    forbidden_addr: Option<String>,

    /// Maximum wait in seconds
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", value_name = "SECONDS", default_value = "30",
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    isolation_timeout: u32,

    /// File with the name servers; an answer of one of them shows that the network is up
    #[arg(long, env = "SERVICE_RESOLV_CONF", value_name = "FILE", default_value = "/etc/resolv.conf")]
    pub(crate) resolv_conf: PathBuf,

    /// File for the failure message, which Kubernetes shows as the termination message
    #[arg(long, env = "SERVICE_TERMINATION_LOG", value_name = "FILE", default_value = "/dev/termination-log")]
    pub termination_log: PathBuf,

    /// Host of the API server, which Kubernetes sets in each container
    #[arg(long, env = "KUBERNETES_SERVICE_HOST", value_name = "HOST", hide = true)]
    kubernetes_host: Option<String>,

    /// Port of the API server, which Kubernetes sets in each container
    #[arg(long, env = "KUBERNETES_SERVICE_PORT", value_name = "PORT", default_value = "443", hide = true)]
    kubernetes_port: u16,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

impl IsolationSettings {
    /// Returns the forbidden address as HOST:PORT. The default is the cluster's API server. `None` outside of a cluster
    /// if no address is configured.
    pub(crate) fn forbidden_address(&self) -> Option<String> {
        let api_server = || {
            let host = self.kubernetes_host.as_deref()?;
            let port = self.kubernetes_port;
            Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
        };
        self.forbidden_addr.clone().or_else(api_server)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.isolation_timeout.into())
    }
}
