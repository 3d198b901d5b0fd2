//! IPv4 networks, and those that workshops on one machine must not reach.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// An IPv4 network, written as `192.0.2.0/24`. The address may have bits after the prefix, which do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Address with the prefix.
    pub address: Ipv4Addr,
    /// Bits of the prefix, at most 32.
    pub prefix: u32,
}

impl Network {
    const fn of(address: [u8; 4], prefix: u32) -> Self {
        let [first, second, third, fourth] = address;
        Self { address: Ipv4Addr::new(first, second, third, fourth), prefix }
    }

    /// Returns the network of one address.
    #[must_use]
    pub const fn host(address: Ipv4Addr) -> Self {
        Self { address, prefix: 32 }
    }

    /// Returns the bits of an address that identify the network.
    #[must_use]
    pub fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - self.prefix).unwrap_or(0)
    }

    /// True if the address is in the network.
    #[must_use]
    pub fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask() == self.address.to_bits() & self.mask()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Error: the text is no IPv4 network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no IPv4 network: write address and prefix, as in 192.0.2.0/24")]
pub struct ParseNetworkError(String);

impl FromStr for Network {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (address, prefix) = text.split_once('/')?;
            let (address, prefix): (Ipv4Addr, u32) = (address.parse().ok()?, prefix.parse().ok()?);
            (prefix <= 32).then_some(Self { address, prefix })
        };
        parse().ok_or_else(|| ParseNetworkError(text.to_owned()))
    }
}

/// IPv4 networks that a workshop must not reach, as in `deploy/network-policies.yaml`.
pub const FORBIDDEN_NETWORKS: [Network; 12] = [
    // This network.
    Network::of([0, 0, 0, 0], 8),
    // Private networks: the containers of the host, and other hosts of the site.
    Network::of([10, 0, 0, 0], 8),
    Network::of([172, 16, 0, 0], 12),
    Network::of([192, 168, 0, 0], 16),
    // Shared address space: hosts of some providers, and one cloud's metadata (100.100.100.200).
    Network::of([100, 64, 0, 0], 10),
    // Loopback addresses through another device than the loopback device.
    Network::of([127, 0, 0, 0], 8),
    // Link-local: the other clouds' metadata (169.254.169.254), which returns the host's credentials.
    Network::of([169, 254, 0, 0], 16),
    // Azure's platform service, the same public address in each region.
    Network::of([168, 63, 129, 16], 32),
    // Protocol assignments, measurements, multicast, reserved.
    Network::of([192, 0, 0, 0], 24),
    Network::of([198, 18, 0, 0], 15),
    Network::of([224, 0, 0, 0], 4),
    Network::of([240, 0, 0, 0], 4),
];

/// True if a workshop must not reach this address.
#[must_use]
pub fn is_forbidden(address: Ipv4Addr) -> bool {
    FORBIDDEN_NETWORKS.into_iter().any(|network| network.contains(address))
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
            let network: Network = text.parse().unwrap();
            assert_eq!(network.to_string(), text);
            assert!(network.contains(inside.parse().unwrap()), "{text}");
            assert!(outside.is_none_or(|outside| !network.contains(outside.parse().unwrap())), "{text}");
        }
        for text in
            ["", "192.0.2.0", "192.0.2.0/33", "192.0.2/24", "192.0.2.0/-1", "2001:db8::/32", "a/8", "1.2.3.4/8/8"]
        {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
