//! The addresses for the network rules of a workshop.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// File with the name servers of this machine.
const RESOLV_CONF: &str = "/etc/resolv.conf";

/// Returns the content of the file with the addresses that the network rules name: all addresses of this machine, also its
/// public ones, which the rules refuse, and its name servers, which the rules allow on port 53.
///
/// # Errors
/// The addresses of this machine cannot be listed. The app must not start without the rules.
pub(super) fn addresses() -> io::Result<String> {
    let hosts = host_addresses()?.into_iter().map(|address| format!("host-address {address}\n"));
    let servers = name_servers().into_iter().map(|address| format!("name-server {address}\n"));
    Ok(hosts.chain(servers).collect())
}

/// Returns the IPv4 addresses of this machine, without the loopback addresses. Workshops have no IPv6.
fn host_addresses() -> io::Result<BTreeSet<Ipv4Addr>> {
    let addresses = if_addrs::get_if_addrs()?.into_iter().filter_map(|interface| match interface.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    });
    Ok(addresses.collect())
}

/// Returns the name servers of this machine without those on loopback addresses, which a workshop cannot reach: in place
/// of these, the engine gives workshops other name servers.
fn name_servers() -> Vec<Ipv4Addr> {
    let text = fs::read_to_string(RESOLV_CONF).unwrap_or_default();
    let servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok());
    servers.filter(|server: &Ipv4Addr| !server.is_loopback()).collect()
}
