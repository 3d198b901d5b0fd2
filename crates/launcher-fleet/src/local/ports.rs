//! The loopback ports of the workshops: a port is never given to two workshops of one fleet.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use launcher_domain::Entropy;
use tokio::net::TcpSocket;

use super::workload::lock;

/// Range of the candidates: above the ports of well-known services.
const CANDIDATE_RANGE: RangeInclusive<u16> = 20_000..=u16::MAX;
/// Kubernetes NodePorts: a node answers on them without a listening socket.
const NODE_PORTS: RangeInclusive<u16> = 30_000..=32_767;
/// Minimum number of candidates outside the kernel's ephemeral range. With fewer, that range is used as well.
const MIN_CANDIDATES: usize = 1_000;

/// The candidate ports of one fleet, and the ports in use.
#[derive(Debug)]
pub(super) struct PortPool {
    candidates: Vec<u16>,
    held: Arc<Mutex<BTreeSet<u16>>>,
}

/// A reserved port: held from before its app starts until all its processes are gone.
#[derive(Debug)]
pub(super) struct PortLease {
    port: u16,
    held: Arc<Mutex<BTreeSet<u16>>>,
}

impl PortPool {
    /// The candidates on this machine, preferably outside the kernel's ephemeral range: between our choice and the
    /// app's start, the kernel then gives the port to no other program.
    pub(super) fn of_this_machine() -> Self {
        let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
        Self::new(candidates(range.ok().as_deref().and_then(parse_range)))
    }

    fn new(candidates: Vec<u16>) -> Self {
        Self { candidates, held: Arc::default() }
    }

    /// Reserves a port that is free now; `None` if there is none. Another program may still bind it.
    pub(super) fn allocate(&self, entropy: &dyn Entropy) -> Option<PortLease> {
        let mut random = [0; 4];
        entropy.fill(&mut random);
        let from = usize::try_from(u32::from_ne_bytes(random)).unwrap_or(0) % self.candidates.len().max(1);
        let mut held = lock(&self.held);
        let mut ports = self.candidates.iter().cycle().skip(from).take(self.candidates.len());
        let port = *ports.find(|port| !held.contains(port) && is_free(**port))?;
        held.insert(port);
        Some(PortLease { port, held: Arc::clone(&self.held) })
    }

    /// Reserves the port of an app that started before this program; `None` if another workshop has it.
    pub(super) fn reserve(&self, port: u16) -> Option<PortLease> {
        lock(&self.held).insert(port).then(|| PortLease { port, held: Arc::clone(&self.held) })
    }
}

impl PortLease {
    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for PortLease {
    fn drop(&mut self) {
        lock(&self.held).remove(&self.port);
    }
}

fn candidates(ephemeral: Option<RangeInclusive<u16>>) -> Vec<u16> {
    let wanted = || CANDIDATE_RANGE.filter(|port| !NODE_PORTS.contains(port));
    let outside: Vec<u16> =
        wanted().filter(|port| ephemeral.as_ref().is_none_or(|range| !range.contains(port))).collect();
    if outside.len() >= MIN_CANDIDATES { outside } else { wanted().collect() }
}

fn parse_range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut bounds = text.split_ascii_whitespace().map(str::parse);
    Some(bounds.next()?.ok()?..=bounds.next()?.ok()?)
}

/// True if the port is free on loopback. It is bound without listening, so that no client mistakes us for an app.
fn is_free(port: u16) -> bool {
    let v4 = TcpSocket::new_v4().and_then(|socket| socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))));
    // Without IPv6 no program can listen there.
    let v6 = TcpSocket::new_v6().and_then(|socket| socket.bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))));
    v4.is_ok() && v6.err().is_none_or(|error| error.kind() != io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use launcher_domain::clock::SystemEntropy;

    use super::{PortPool, candidates, parse_range};

    /// A free port, chosen by the kernel.
    fn some_port() -> (TcpListener, u16) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[test]
    fn port_is_reserved_until_its_lease_is_dropped() {
        let (listener, port) = some_port();
        let ports = PortPool::new(vec![port]);
        assert!(ports.allocate(&SystemEntropy).is_none(), "another process listens on the port");
        drop(listener);

        let lease = ports.allocate(&SystemEntropy).unwrap();

        assert_eq!(lease.port(), port);
        assert!(ports.allocate(&SystemEntropy).is_none(), "the port is reserved although no process listens on it yet");
        assert!(ports.reserve(port).is_none());
        drop(lease);
        let adopted = ports.reserve(port).unwrap();
        assert!(ports.allocate(&SystemEntropy).is_none());
        drop(adopted);
        assert!(ports.allocate(&SystemEntropy).is_some());
    }

    #[test]
    fn ports_are_outside_the_ephemeral_port_range() {
        let range = parse_range("32768\t60999\n");
        assert_eq!(range, Some(32_768..=60_999));
        let some = candidates(range);
        assert!(some.contains(&20_000) && some.contains(&29_999) && some.contains(&61_000) && some.contains(&65_535));
        assert!(some.iter().all(|port| !(30_000..=60_999).contains(port)), "{some:?}");
        // This range leaves no candidate outside.
        assert!(candidates(parse_range("1024 65535")).contains(&40_000));
        assert_eq!(parse_range("odd"), None);
    }
}
