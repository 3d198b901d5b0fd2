//! The packet filter rules of a workshop's network namespace, as data.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use launcher_domain::network::{FORBIDDEN_NETWORKS, Network, is_forbidden};

use crate::resolv_conf::DNS_PORT;

/// The rules for one direction. A packet that matches no rule is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) direction: Direction,
    pub(crate) rules: Vec<Rule>,
}

/// Direction of a packet, as the network namespace sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Input,
    Output,
}

/// A rule. Its verdict applies to the packets for which all conditions hold, if no earlier rule has matched them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) verdict: Verdict,
}

/// A condition on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The packet passes the loopback device.
    Loopback,
    /// The packet belongs to an existing connection, or is an error message (ICMP) about one.
    Established,
    /// The version of the internet protocol.
    Family(Family),
    /// The destination is in an IPv4 network.
    To(Network),
    /// The transport protocol, with the destination port.
    Port(Transport, u16),
}

/// Version of the internet protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

/// Transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
}

/// Verdict on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accept,
    /// Drops the packet, and reports "administratively prohibited" to its sender by ICMP.
    Reject,
}

/// Returns the rules for both directions. IPv6 addresses need no rule: the rules refuse all of IPv6, except on the
/// loopback device.
pub(crate) fn chains(host_addresses: &[IpAddr], name_servers: &[IpAddr]) -> [Chain; 2] {
    let mut output = vec![accept(&[Condition::Loopback])];
    let is_remote = |server: &Ipv4Addr| !server.is_loopback() && !server.is_unspecified();
    let servers: BTreeSet<_> = ipv4(name_servers).filter(is_remote).collect();
    for server in servers {
        for transport in [Transport::Udp, Transport::Tcp] {
            output.push(accept(&[Condition::To(server.into()), Condition::Port(transport, DNS_PORT)]));
        }
    }
    let is_public = |address: &Ipv4Addr| !is_forbidden(*address);
    let hosts: BTreeSet<_> = ipv4(host_addresses).filter(is_public).collect();
    for network in FORBIDDEN_NETWORKS.into_iter().chain(hosts.into_iter().map(Network::from)) {
        output.push(reject(&[Condition::To(network)]));
    }
    output.push(reject(&[Condition::Family(Family::Ipv6)]));
    output.push(accept(&[Condition::Family(Family::Ipv4)]));
    let input = vec![accept(&[Condition::Loopback]), accept(&[Condition::Established])];
    [Chain { direction: Direction::Output, rules: output }, Chain { direction: Direction::Input, rules: input }]
}

fn ipv4(addresses: &[IpAddr]) -> impl Iterator<Item = Ipv4Addr> {
    addresses.iter().filter_map(|address| match address.to_canonical() {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    })
}

fn accept(conditions: &[Condition]) -> Rule {
    Rule { conditions: conditions.to_vec(), verdict: Verdict::Accept }
}

fn reject(conditions: &[Condition]) -> Rule {
    Rule { conditions: conditions.to_vec(), verdict: Verdict::Reject }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.verdict {
            Verdict::Accept => "accept",
            Verdict::Reject => "reject",
        })?;
        self.conditions.iter().try_for_each(|condition| write!(f, " {condition}"))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.write_str("loopback"),
            Self::Established => f.write_str("established"),
            Self::Family(Family::Ipv4) => f.write_str("IPv4"),
            Self::Family(Family::Ipv6) => f.write_str("IPv6"),
            Self::To(network) => write!(f, "to {network}"),
            Self::Port(Transport::Tcp, port) => write!(f, "TCP port {port}"),
            Self::Port(Transport::Udp, port) => write!(f, "UDP port {port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(host_addresses: &[&str], name_servers: &[&str]) -> [Vec<String>; 2] {
        let parsed = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let chains = chains(&parsed(host_addresses), &parsed(name_servers));
        assert_eq!(chains.each_ref().map(|chain| chain.direction), [Direction::Output, Direction::Input]);
        chains.map(|chain| chain.rules.iter().map(Rule::to_string).collect())
    }

    #[test]
    fn rules_allow_internet_and_name_servers_and_refuse_private_networks_host_and_ipv6() {
        let [output, input] = lines(&["203.0.113.5"], &["10.0.0.2"]);
        let expected = [
            "accept loopback",
            "accept to 10.0.0.2/32 UDP port 53",
            "accept to 10.0.0.2/32 TCP port 53",
            "reject to 0.0.0.0/8",
            "reject to 10.0.0.0/8",
            "reject to 172.16.0.0/12",
            "reject to 192.168.0.0/16",
            "reject to 100.64.0.0/10",
            "reject to 127.0.0.0/8",
            "reject to 169.254.0.0/16",
            "reject to 168.63.129.16/32",
            "reject to 192.0.0.0/24",
            "reject to 198.18.0.0/15",
            "reject to 224.0.0.0/4",
            "reject to 240.0.0.0/4",
            "reject to 203.0.113.5/32",
            "reject IPv6",
            "accept IPv4",
        ];
        assert_eq!(output, expected);
        assert_eq!(input, ["accept loopback", "accept established"]);
    }

    #[test]
    fn addresses_that_other_rules_cover_need_no_rule() {
        let plain = lines(&[], &[]);
        let hosts = ["10.0.0.5", "172.31.255.255", "169.254.1.1", "127.0.0.1", "2001:db8::5", "::1"];
        assert_eq!(lines(&hosts, &["127.0.0.11", "::1", "2001:db8::53", "0.0.0.0"]), plain);
    }

    #[test]
    fn repeated_addresses_need_one_rule() {
        let once = lines(&["203.0.113.5"], &["10.0.0.2"]);
        assert_eq!(lines(&["203.0.113.5", "203.0.113.5", "::ffff:203.0.113.5"], &["10.0.0.2", "10.0.0.2"]), once);
    }
}
