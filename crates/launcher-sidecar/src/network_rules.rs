//! `launcher-sidecar limit-network`: limits the network of a workshop that runs in containers.
//!
//! The container of the sidecar begins in this mode, with CAP_NET_ADMIN. The app shares the network namespace of this
//! container, and starts later. The mode installs packet filter rules in this namespace: the app reaches the internet,
//! but no private network, no address of the host, and nothing over IPv6. The app has no CAP_NET_ADMIN, so it cannot
//! change the rules. The sidecar gives up its capabilities before it serves.

mod batch;
mod netlink;
mod rules;

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use launcher_process::telemetry::LogSettings;
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};

use crate::resolv_conf::name_servers;
use batch::Batch;
use netlink::commit;
use rules::chains;

/// Replaces the network rules of this network namespace. Returns the number of rules.
///
/// The kernel applies all rules at once, or none of them. Existing rules of this mode stay in force until then.
///
/// # Errors
/// Returns one line with the reason unless the kernel has acknowledged every rule.
pub fn limit_network(settings: &NetworkRulesSettings) -> Result<usize, String> {
    let Addresses { hosts, mut servers } = addresses(settings)?;
    servers.extend(configured_name_servers(&settings.resolv_conf)?);
    for server in servers.iter().filter(|server| server.to_canonical().is_ipv6() && !server.is_loopback()) {
        tracing::warn!(%server, "ignoring IPv6 name server, because the network rules refuse IPv6");
    }
    let chains = chains(&hosts, &servers);
    commit(&Batch::new(&chains)).map_err(|error| format!("the network rules cannot be installed: {error}"))?;
    Ok(chains.iter().map(|chain| chain.rules.len()).sum())
}

/// Returns the addresses of the options and of the file.
fn addresses(settings: &NetworkRulesSettings) -> Result<Addresses, String> {
    let mut addresses = Addresses { hosts: settings.host_addresses.clone(), servers: settings.name_servers.clone() };
    if let Some(path) = &settings.addresses {
        let form = "write `host-address IP` or `name-server IP` into each line";
        let failed = |problem: String| format!("{} cannot be read: {problem}; {form}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        addresses.add(&text).map_err(failed)?;
    }
    Ok(addresses)
}

fn configured_name_servers(path: &Path) -> Result<Vec<IpAddr>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(name_servers(&text).iter().map(|server| server.ip()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!(
            "{} cannot be read: {error}; set SERVICE_RESOLV_CONF to a readable file with the name servers",
            path.display()
        )),
    }
}

/// Installs packet filter rules in this network namespace: it then reaches the internet over IPv4, but no private
/// network, no address of the host, and nothing over IPv6. Needs CAP_NET_ADMIN. Exits with 0 once the kernel has
/// acknowledged all rules, and with 3 if it did not. With --serve-as, it then continues as the sidecar
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar limit-network", version)]
pub struct NetworkRulesSettings {
    /// Address of the host, which the rules refuse; repeatable. Private addresses are refused without this option
    #[arg(long = "host-address", value_name = "IP")]
    host_addresses: Vec<IpAddr>,

    /// Address of a name server, which the rules allow on port 53; repeatable
    #[arg(long = "name-server", value_name = "IP")]
    name_servers: Vec<IpAddr>,

    /// File with further addresses: each line is `host-address IP` or `name-server IP`
    #[arg(long, value_name = "FILE")]
    addresses: Option<PathBuf>,

    /// User ID with which to continue as the sidecar, for good without capabilities. Needs CAP_SETUID, CAP_SETGID and
    /// CAP_SETPCAP. The environment has the settings of the sidecar
    #[arg(long, value_name = "UID")]
    pub serve_as: Option<NonZeroU32>,

    /// File with further name servers
    #[arg(long, env = "SERVICE_RESOLV_CONF", value_name = "FILE", default_value = "/etc/resolv.conf")]
    resolv_conf: PathBuf,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

/// Addresses that the rules name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Addresses {
    /// Addresses of the host, which the rules refuse.
    hosts: Vec<IpAddr>,
    /// Addresses of name servers, which the rules allow on port 53.
    servers: Vec<IpAddr>,
}

impl Addresses {
    /// Adds the addresses of a file. Each line is `host-address IP` or `name-server IP`.
    ///
    /// # Errors
    /// Another line. The text names it.
    fn add(&mut self, text: &str) -> Result<(), String> {
        for line in text.lines() {
            let (kind, address) = line.split_once(' ').unwrap_or((line, ""));
            let address = address.parse().map_err(|_| format!("invalid line {line:?}"))?;
            match kind {
                "host-address" => self.hosts.push(address),
                "name-server" => self.servers.push(address),
                _ => return Err(format!("invalid line {line:?}")),
            }
        }
        Ok(())
    }
}

/// Number of bits in the kernel's sets of capabilities.
const CAPABILITIES: u32 = 64;

/// Continues as this user and the group with the same ID, without capabilities, for good: programs that this process
/// executes cannot gain a capability or another user either.
///
/// Call it while the process has one thread, because the kernel changes only the calling thread.
///
/// # Errors
/// The process lacks CAP_SETUID, CAP_SETGID or CAP_SETPCAP.
pub fn give_up_privileges(user: NonZeroU32) -> io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_no_new_privs(true)?;
    for number in 0..CAPABILITIES {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // The kernel has no capability with this number.
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let (user, group) = (Uid::from_raw(user.get()), Gid::from_raw(user.get()));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)?;
    clear_ambient_capability_set()?;
    set_capabilities(None, none)?;
    if capabilities(None)? == none { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(test)]
mod tests {
    use super::{Addresses, IpAddr};

    fn read(text: &str) -> Result<Addresses, String> {
        let mut addresses = Addresses { hosts: Vec::new(), servers: Vec::new() };
        addresses.add(text).map(|()| addresses)
    }

    #[test]
    fn lines_name_hosts_and_name_servers() {
        let addresses = read("host-address 203.0.113.5\nname-server 10.0.0.2\nhost-address 2001:db8::1\n").unwrap();
        assert_eq!(addresses.hosts, ["203.0.113.5", "2001:db8::1"].map(|address| address.parse::<IpAddr>().unwrap()));
        assert_eq!(addresses.servers, ["10.0.0.2".parse::<IpAddr>().unwrap()]);
        assert!(read("").unwrap().hosts.is_empty());
    }

    #[test]
    fn invalid_line_is_refused_and_named() {
        for line in ["host-address", "host-address host.example", "router 10.0.0.1", "10.0.0.1"] {
            assert_eq!(read(&format!("name-server 10.0.0.2\n{line}\n")), Err(format!("invalid line {line:?}")));
        }
    }
}
