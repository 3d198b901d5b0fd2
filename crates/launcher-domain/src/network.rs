//! IPv4 networks, and those that workshops on one machine must not reach.

use std::net::Ipv4Addr;

pub use ipnet::Ipv4Net as Network;

const fn network(address: [u8; 4], prefix: u8) -> Network {
    let [first, second, third, fourth] = address;
    Network::new_assert(Ipv4Addr::new(first, second, third, fourth), prefix)
}

/// Error: the text is no IPv4 network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no IPv4 network: write address and prefix, as in 192.0.2.0/24")]
pub struct ParseNetworkError(String);

/// Reads an IPv4 network, written as `192.0.2.0/24`. The address may have bits after the prefix, which do not count.
///
/// # Errors
/// [`ParseNetworkError`] with the text.
pub fn parse_network(text: &str) -> Result<Network, ParseNetworkError> {
    // `Network::from_str` also accepts leading zeros, which some programs read as octal.
    let parse = || {
        let (address, prefix) = text.split_once('/')?;
        Network::new(address.parse().ok()?, prefix.parse().ok()?).ok()
    };
    parse().ok_or_else(|| ParseNetworkError(text.to_owned()))
}

/// IPv4 networks that a workshop must not reach, as in `deploy/network-policies.yaml`.
pub const FORBIDDEN_NETWORKS: [Network; 12] = [
    // This network.
    network([0, 0, 0, 0], 8),
    // Private networks: the containers of the host, and other hosts of the site.
    network([10, 0, 0, 0], 8),
    network([172, 16, 0, 0], 12),
    network([192, 168, 0, 0], 16),
    // Shared address space: hosts of some providers, and one cloud's metadata (100.100.100.200).
    network([100, 64, 0, 0], 10),
    // Loopback addresses through another device than the loopback device.
    network([127, 0, 0, 0], 8),
    // Link-local: the other clouds' metadata (169.254.169.254), which returns the host's credentials.
    network([169, 254, 0, 0], 16),
    // Azure's platform service, the same public address in each region.
    network([168, 63, 129, 16], 32),
    // Protocol assignments, measurements, multicast, reserved.
    network([192, 0, 0, 0], 24),
    network([198, 18, 0, 0], 15),
    network([224, 0, 0, 0], 4),
    network([240, 0, 0, 0], 4),
];

/// True if a workshop must not reach this address.
#[must_use]
pub fn is_forbidden(address: Ipv4Addr) -> bool {
    FORBIDDEN_NETWORKS.into_iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_contains_the_addresses_with_its_prefix() {
        for (address, is_inside) in [
            (Ipv4Addr::new(172, 15, 255, 255), false),
            (Ipv4Addr::new(172, 16, 0, 0), true),
            (Ipv4Addr::new(172, 31, 255, 255), true),
            (Ipv4Addr::new(172, 32, 0, 0), false),
            (Ipv4Addr::new(168, 63, 129, 16), true),
            (Ipv4Addr::new(168, 63, 129, 17), false),
            (Ipv4Addr::new(255, 255, 255, 255), true),
        ] {
            assert_eq!(is_forbidden(address), is_inside, "{address}");
        }
    }

    #[test]
    fn network_is_read_with_and_without_bits_after_the_prefix() {
        for (text, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", Some("192.0.3.0")),
            ("192.0.2.77/24", "192.0.2.1", Some("192.0.1.255")),
            ("192.0.2.1/32", "192.0.2.1", Some("192.0.2.2")),
            ("1.2.3.4/0", "255.255.255.255", None),
        ] {
            let network = parse_network(text).unwrap();
            assert_eq!(network.to_string(), text);
            assert!(network.contains(&inside.parse::<Ipv4Addr>().unwrap()), "{text}");
            assert!(outside.is_none_or(|outside| !network.contains(&outside.parse::<Ipv4Addr>().unwrap())), "{text}");
        }
        for text in
            ["", "192.0.2.0", "192.0.2.0/33", "192.0.2/24", "192.0.2.0/-1", "2001:db8::/32", "a/8", "1.2.3.4/8/8"]
        {
            assert!(parse_network(text).is_err(), "{text}");
        }
    }
}
