//! Name servers and search domain of `resolv.conf`.

use std::net::{IpAddr, SocketAddr};

/// Port of a DNS server.
pub(crate) const DNS_PORT: u16 = 53;

/// Returns the addresses of all `nameserver` lines. An address may include a port, as in `127.0.0.1:5353`. Only the
/// `resolv.conf` files of tests name a port.
pub(crate) fn name_servers(text: &str) -> Vec<SocketAddr> {
    let addresses = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver")).map(str::trim);
    let server = |text: &str| {
        let with_port = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS_PORT));
        with_port.or_else(|_| text.parse()).ok()
    };
    addresses.filter_map(server).collect()
}

/// Returns the first domain of the `search` line, for use as the name in DNS queries. The cluster's DNS server answers
/// queries for this domain itself, without asking another server.
pub(crate) fn search_domain(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("search"));
    line.and_then(|domains| domains.split_whitespace().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_are_read_with_and_without_port() {
        let text = "# a comment\nsearch workshops.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n\
                    nameserver fd00::a\nnameserver 127.0.0.1:5353\nnameserver wrong\noptions ndots:5\n";
        let expected = ["10.96.0.10:53", "[fd00::a]:53", "127.0.0.1:5353"].map(|text| text.parse().unwrap());
        assert_eq!(name_servers(text), expected);
    }

    #[test]
    fn first_search_domain_is_read() {
        let text = "# a comment\nsearch workshops.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\n";
        assert_eq!(search_domain(text), "workshops.svc.cluster.local");
        assert_eq!(search_domain("nameserver 10.96.0.10\n"), "");
    }
}
