//! Addresses that the rules name: of the host, and of name servers.

use std::net::IpAddr;

/// Addresses that the rules name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Addresses {
    /// Addresses of the host, which the rules refuse.
    pub(super) hosts: Vec<IpAddr>,
    /// Addresses of name servers, which the rules allow on port 53.
    pub(super) servers: Vec<IpAddr>,
}

impl Addresses {
    /// Adds the addresses of a file. Each line is `host-address IP` or `name-server IP`.
    ///
    /// # Errors
    /// Another line. The text names it.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
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
