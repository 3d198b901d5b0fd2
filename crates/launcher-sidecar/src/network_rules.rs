//! `launcher-sidecar limit-network`: limits the network of a workshop that runs in containers.
//!
//! The container of the sidecar begins in this mode, with CAP_NET_ADMIN. The app shares the network namespace of this
//! container, and starts later. The mode installs packet filter rules in this namespace: the app reaches the internet,
//! but no private network, no address of the host, and nothing over IPv6. The app has no CAP_NET_ADMIN, so it cannot
//! change the rules. The sidecar gives up its capabilities before it serves.

mod addresses;
mod batch;
mod expressions;
mod netlink;
mod rules;
mod settings;

use std::io;
use std::net::IpAddr;
use std::path::Path;

use crate::resolv_conf::name_servers;
use addresses::Addresses;
use batch::Batch;
use netlink::{CommitError, commit};
use rules::chains;
pub use settings::NetworkRulesSettings;

/// Reason why the network rules were not installed.
#[derive(Debug, thiserror::Error)]
pub enum NetworkRulesError {
    /// The file with the name servers cannot be read.
    #[error("{path} cannot be read: {error}; set SERVICE_RESOLV_CONF to a readable file with the name servers")]
    ResolvConf {
        /// Path of the file.
        path: String,
        /// The error of the file system.
        error: io::Error,
    },
    /// The file with the addresses cannot be read.
    #[error("{path} cannot be read: {problem}; write `host-address IP` or `name-server IP` into each line")]
    Addresses {
        /// Path of the file.
        path: String,
        /// The problem.
        problem: String,
    },
    /// The kernel did not commit the rules.
    #[error("the network rules cannot be installed: {0}")]
    Commit(#[from] CommitError),
}

/// Replaces the network rules of this network namespace. Returns the number of rules.
///
/// The kernel applies all rules at once, or none of them. Existing rules of this mode stay in force until then.
///
/// # Errors
/// Returns [`NetworkRulesError`] unless the kernel has acknowledged every rule.
pub fn limit_network(settings: &NetworkRulesSettings) -> Result<usize, NetworkRulesError> {
    let Addresses { hosts, mut servers } = addresses(settings)?;
    servers.extend(configured_name_servers(&settings.resolv_conf)?);
    for server in servers.iter().filter(|server| server.to_canonical().is_ipv6() && !server.is_loopback()) {
        tracing::warn!(%server, "ignoring IPv6 name server, because the network rules refuse IPv6");
    }
    let chains = chains(&hosts, &servers);
    commit(&Batch::new(&chains))?;
    Ok(chains.iter().map(|chain| chain.rules.len()).sum())
}

/// Returns the addresses of the options and of the file.
fn addresses(settings: &NetworkRulesSettings) -> Result<Addresses, NetworkRulesError> {
    let mut addresses = Addresses { hosts: settings.host_addresses.clone(), servers: settings.name_servers.clone() };
    if let Some(path) = &settings.addresses {
        let failed = |problem| NetworkRulesError::Addresses { path: path.display().to_string(), problem };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        addresses.add(&text).map_err(failed)?;
    }
    Ok(addresses)
}

fn configured_name_servers(path: &Path) -> Result<Vec<IpAddr>, NetworkRulesError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(name_servers(&text).iter().map(|server| server.ip()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(NetworkRulesError::ResolvConf { path: path.display().to_string(), error }),
    }
}
