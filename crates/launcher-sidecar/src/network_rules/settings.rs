//! Settings of `launcher-sidecar limit-network`.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use launcher_process::telemetry::LogSettings;

/// Installs packet filter rules in this network namespace: it then reaches the internet over IPv4, but no private
/// network, no address of the host, and nothing over IPv6. Needs CAP_NET_ADMIN. Exits with 0 once the kernel has
/// acknowledged all rules, and with 3 if it did not. With --serve-as, it then continues as the sidecar
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar limit-network", version)]
pub struct NetworkRulesSettings {
    /// Address of the host, which the rules refuse; repeatable. Private addresses are refused without this option
    #[arg(long = "host-address", value_name = "IP")]
    pub(crate) host_addresses: Vec<IpAddr>,

    /// Address of a name server, which the rules allow on port 53; repeatable
    #[arg(long = "name-server", value_name = "IP")]
    pub(crate) name_servers: Vec<IpAddr>,

    /// File with further addresses: each line is `host-address IP` or `name-server IP`
    #[arg(long, value_name = "FILE")]
    pub(crate) addresses: Option<PathBuf>,

    /// User ID with which to continue as the sidecar, for good without capabilities. Needs CAP_SETUID, CAP_SETGID and
    /// CAP_SETPCAP. The environment has the settings of the sidecar
    #[arg(long, value_name = "UID")]
    pub serve_as: Option<NonZeroU32>,

    /// File with further name servers
    #[arg(long, env = "SERVICE_RESOLV_CONF", value_name = "FILE", default_value = "/etc/resolv.conf")]
    pub(crate) resolv_conf: PathBuf,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}
