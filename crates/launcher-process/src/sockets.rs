//! The listening TCP sockets of this network namespace, from `/proc/net/tcp` and `/proc/net/tcp6`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};

/// Value of the state column for a listening socket.
const LISTEN: &str = "0A";

/// A listening TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListeningSocket {
    /// Address of the socket. An unspecified address means all addresses.
    pub address: SocketAddr,
    /// Number of the socket in links such as `/proc/PID/fd/3`.
    pub inode: u64,
}

impl ListeningSocket {
    /// Parses a line of a table. `None` for the first line, and if the socket does not listen.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let (ip, port) = fields.nth(1)?.split_once(':')?;
        if fields.nth(1)? != LISTEN {
            return None;
        }
        let address = SocketAddr::new(parse_ip(ip)?, u16::from_str_radix(port, 16).ok()?);
        Some(Self { address, inode: fields.nth(5)?.parse().ok()? })
    }
}

/// Returns the listening sockets of all processes in this network namespace. Blocks.
///
/// # Errors
/// `/proc` cannot be read.
pub fn listening_sockets() -> io::Result<Vec<ListeningSocket>> {
    let mut found = Vec::new();
    read(File::open("/proc/net/tcp")?, &mut found)?;
    match File::open("/proc/net/tcp6") {
        Ok(table) => read(table, &mut found)?,
        // The file does not exist on a machine without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// Reads line by line, because a table with all connections can have megabytes.
fn read(table: File, found: &mut Vec<ListeningSocket>) -> io::Result<()> {
    let (mut lines, mut line) = (BufReader::new(table), String::new());
    while lines.read_line(&mut line)? != 0 {
        found.extend(ListeningSocket::parse(&line));
        line.clear();
    }
    Ok(())
}

/// Parses an address in the kernel's format: words of 32 bits in the machine's byte order.
fn parse_ip(hex: &str) -> Option<IpAddr> {
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
