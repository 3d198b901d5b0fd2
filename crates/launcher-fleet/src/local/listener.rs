//! Determines which program listens on a loopback port.
//!
//! Any program can bind a port. Before a sidecar forwards the owner's requests to it, a process of exactly this
//! Workshop must hold the listening socket.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::task::spawn_blocking;

use super::process::ProcessId;
use super::process_snapshot::ProcessSnapshot;
use super::workload::Workload;

/// State of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The program that listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listener {
    Absent,
    /// Only processes of the Workshop.
    Own,
    /// A program outside the Workshop.
    Foreign,
}

/// Determines the listener on this port for the Workshop that holds it.
///
/// # Errors
/// `/proc` cannot be read: no request may be forwarded.
pub(super) async fn find_listener(workload: &Workload, port: u16) -> io::Result<Listener> {
    // The task is cancelled only when the program ends, so the result is not used.
    let Ok(sockets) = spawn_blocking(move || sockets(port)).await else { return Ok(Listener::Absent) };
    let sockets = sockets?;
    if sockets.is_empty() {
        return Ok(Listener::Absent);
    }
    // Taken after the sockets were read, so that it includes every process that holds one.
    let Some(snapshot) = workload.context().scanner.fresh_snapshot().await else { return Ok(Listener::Absent) };
    let (marker, leader) = workload.marker_and_leader();
    let listener = spawn_blocking(move || classify(&sockets, &snapshot, &marker, leader)).await;
    Ok(listener.unwrap_or(Listener::Absent))
}

/// The same as [`find_listener`] with an earlier snapshot. Blocks.
pub(super) fn find_listener_in(workload: &Workload, port: u16, snapshot: &ProcessSnapshot) -> io::Result<Listener> {
    let (marker, leader) = workload.marker_and_leader();
    Ok(classify(&sockets(port)?, snapshot, &marker, leader))
}

fn classify(sockets: &BTreeSet<u64>, snapshot: &ProcessSnapshot, marker: &str, leader: Option<ProcessId>) -> Listener {
    if sockets.is_empty() {
        return Listener::Absent;
    }
    let ours: BTreeSet<u64> = snapshot.members(marker, leader).flat_map(ProcessId::sockets).collect();
    // Two programs may share a port (SO_REUSEPORT): the kernel would then choose between them for each connection.
    if sockets.is_subset(&ours) { Listener::Own } else { Listener::Foreign }
}

/// The sockets (by inode) that listen on this port, on loopback or on every address.
fn sockets(port: u16) -> io::Result<BTreeSet<u64>> {
    let mut found = BTreeSet::new();
    read(File::open("/proc/net/tcp")?, port, &mut found)?;
    match File::open("/proc/net/tcp6") {
        Ok(table) => read(table, port, &mut found)?,
        // The machine has no IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// Reads line by line: with many connections the table has megabytes, and it is read often.
fn read(table: File, port: u16, found: &mut BTreeSet<u64>) -> io::Result<()> {
    let (mut lines, mut line) = (BufReader::new(table), String::new());
    while lines.read_line(&mut line)? != 0 {
        found.extend(listening(&line, port));
        line.clear();
    }
    Ok(())
}

/// The inode of a line's socket, if it listens on this port and is reachable over loopback.
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
    fn listeners_are_found_on_every_address_that_loopback_reaches() {
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
