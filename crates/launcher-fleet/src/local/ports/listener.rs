//! Determines which program listens on a loopback port.
//!
//! Any program on this machine can bind an app's port. So before a sidecar forwards the owner's requests to a port, the
//! fleet checks that only processes of this Workshop listen on it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::task::spawn_blocking;

use crate::local::process::{AppProcesses, ProcessId, ProcessScanner, ProcessSnapshot};

/// Value of the state column in `/proc/net/tcp` for a listening socket.
const LISTEN: &str = "0A";

/// The program that listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// No program listens.
    Absent,
    /// Only processes of the Workshop listen.
    Own,
    /// A program outside the Workshop listens.
    Foreign,
}

/// Determines whether this app or another program listens on the app's port.
///
/// # Errors
/// `/proc` cannot be read. The caller must not forward requests then.
pub(crate) async fn find_listener(scanner: &ProcessScanner, app: AppProcesses, port: u16) -> io::Result<Listener> {
    // The task fails only when the program ends. The result does not matter then.
    let Ok(sockets) = spawn_blocking(move || sockets(port)).await else { return Ok(Listener::Absent) };
    let sockets = sockets?;
    if sockets.is_empty() {
        return Ok(Listener::Absent);
    }
    // Take the snapshot after reading the sockets: it then includes every process that holds one of them.
    let Some(snapshot) = scanner.fresh_snapshot().await else { return Ok(Listener::Absent) };
    let listener = spawn_blocking(move || classify(&sockets, &snapshot, &app)).await;
    Ok(listener.unwrap_or(Listener::Absent))
}

/// Determines from an existing process snapshot whether this app or another program listens on the app's port. Blocks.
pub(crate) fn find_listener_in(snapshot: &ProcessSnapshot, app: &AppProcesses, port: u16) -> io::Result<Listener> {
    Ok(classify(&sockets(port)?, snapshot, app))
}

fn classify(sockets: &BTreeSet<u64>, snapshot: &ProcessSnapshot, app: &AppProcesses) -> Listener {
    if sockets.is_empty() {
        return Listener::Absent;
    }
    let ours: BTreeSet<u64> = snapshot.members(app).flat_map(ProcessId::sockets).collect();
    // Every socket must belong to the app. If another program shares the port (SO_REUSEPORT), the kernel may give it
    // some of the connections.
    if sockets.is_subset(&ours) { Listener::Own } else { Listener::Foreign }
}

/// Returns the inodes of the sockets that listen on this port, on loopback or on all addresses.
fn sockets(port: u16) -> io::Result<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    read(File::open("/proc/net/tcp")?, port, &mut found)?;
    match File::open("/proc/net/tcp6") {
        Ok(table) => read(table, port, &mut found)?,
        // The file does not exist on a machine without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// Adds the listening sockets of a `/proc/net/tcp` table. Reads line by line, because the table can have megabytes.
fn read(table: File, port: u16, found: &mut BTreeSet<u64>) -> io::Result<()> {
    let (mut lines, mut line) = (BufReader::new(table), String::new());
    while lines.read_line(&mut line)? != 0 {
        found.extend(listening(&line, port));
        line.clear();
    }
    Ok(())
}

/// Returns the socket inode of a table line, if the socket listens on this port and is reachable over loopback.
fn listening(line: &str, port: u16) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (address, held) = fields.nth(1)?.split_once(':')?;
    let listens = u16::from_str_radix(held, 16) == Ok(port) && fields.nth(1)? == LISTEN;
    let address = parse_address(address).filter(|_| listens)?.to_canonical();
    let reached = address.is_unspecified() || address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST;
    fields.nth(5)?.parse().ok().filter(|_| reached)
}

/// Parses an address in the kernel's format: words of 32 bits in the machine's byte order.
fn parse_address(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let mut octets = [0; 16];
            for (octets, at) in octets.chunks_exact_mut(4).zip([0, 8, 16, 24]) {
                octets.copy_from_slice(&word(at)?);
            }
            Some(IpAddr::from(octets))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::sockets;

    #[test]
    fn listener_is_found_on_loopback_and_wildcard_addresses_only() {
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0", "[::ffff:127.0.0.1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                assert!(address.starts_with('['), "only IPv6 may be missing");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            assert_eq!(sockets(port).unwrap().len(), 1, "{address}");
            drop(listener);
            assert_eq!(sockets(port).unwrap().len(), 0, "{address}");
        }
        let elsewhere = TcpListener::bind("127.0.0.2:0").unwrap();
        assert_eq!(sockets(elsewhere.local_addr().unwrap().port()).unwrap().len(), 0);
    }
}
