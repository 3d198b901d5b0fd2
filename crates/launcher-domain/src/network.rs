//! Networks that workshops must not reach.

use std::net::Ipv4Addr;

/// IPv4 networks that a workshop must not reach, as in `deploy/network-policies.yaml`: address, and bits of the prefix.
pub const FORBIDDEN_NETWORKS: [([u8; 4], u32); 12] = [
    // This network.
    ([0, 0, 0, 0], 8),
    // Private networks: the containers of the host, and other hosts of the site.
    ([10, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
    // Shared address space: hosts of some providers, and one cloud's metadata (100.100.100.200).
    ([100, 64, 0, 0], 10),
    // Loopback addresses through another device than the loopback device.
    ([127, 0, 0, 0], 8),
    // Link-local: the other clouds' metadata (169.254.169.254), which returns the host's credentials.
    ([169, 254, 0, 0], 16),
    // Azure's platform service, the same public address in each region.
    ([168, 63, 129, 16], 32),
    // Protocol assignments, measurements, multicast, reserved.
    ([192, 0, 0, 0], 24),
    ([198, 18, 0, 0], 15),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// True if a workshop must not reach this address.
#[must_use]
pub fn is_forbidden(address: Ipv4Addr) -> bool {
    let is_in = |(network, prefix): ([u8; 4], u32)| {
        let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        address.to_bits() & mask == Ipv4Addr::from(network).to_bits()
    };
    FORBIDDEN_NETWORKS.into_iter().any(is_in)
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
}
