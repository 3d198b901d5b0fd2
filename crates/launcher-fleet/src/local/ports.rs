//! Loopback ports of apps: their allocation, and the program that listens on a port. Two workshops of one fleet never hold
//! the same port.
//!
//! Any program on this machine can bind an app's port. So before a sidecar forwards the owner's requests to a port, the
//! fleet checks that only processes of this Workshop listen on it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use launcher_domain::sync::lock;
use launcher_domain::{Entropy, ListensElsewhere};
use launcher_process::sockets::{ListeningSocket, listening_sockets};
use tokio::net::TcpSocket;
use tokio::task::spawn_blocking;

use super::process::{AppProcesses, ProcessId, ProcessScanner, ProcessSnapshot};

/// The program that listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    Absent,
    Own,
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
    let is_reached = |socket: &ListeningSocket| {
        let ip = socket.address.ip().to_canonical();
        let reached = ip.is_unspecified() || ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST;
        socket.address.port() == port && reached
    };
    Ok(listening_sockets()?.into_iter().filter(is_reached).map(|socket| socket.inode).collect())
}

/// Returns the addresses on which processes of this app listen, unless it listens on this port of 127.0.0.1.
pub(crate) async fn listens_elsewhere(
    scanner: &ProcessScanner,
    app: AppProcesses,
    port: u16,
) -> io::Result<Option<ListensElsewhere>> {
    // A task fails only when the program ends. The result does not matter then.
    let Ok(sockets) = spawn_blocking(listening_sockets).await else { return Ok(None) };
    let sockets = sockets?;
    let Some(snapshot) = scanner.fresh_snapshot().await else { return Ok(None) };
    let own = spawn_blocking(move || {
        let ours: BTreeSet<u64> = snapshot.members(&app).flat_map(ProcessId::sockets).collect();
        let own = sockets.into_iter().filter(|socket| ours.contains(&socket.inode));
        ListensElsewhere::new(own.map(|socket| socket.address), port)
    });
    Ok(own.await.unwrap_or_default())
}

/// Range of the candidate ports. It is above the ports of well-known services.
const CANDIDATE_RANGE: RangeInclusive<u16> = 20_000..=u16::MAX;
/// Kubernetes NodePorts, which are excluded: a Kubernetes node answers on them without a listening socket.
const NODE_PORTS: RangeInclusive<u16> = 30_000..=32_767;
/// Minimum number of candidates outside the kernel's ephemeral range. If there are fewer, the pool also uses that
/// range.
const MIN_CANDIDATES: usize = 1_000;

/// The candidate ports of one fleet, and the ports that its workshops hold.
pub(crate) struct PortPool {
    candidates: Vec<u16>,
    held: Arc<Mutex<BTreeSet<u16>>>,
}

/// A reserved port. A workshop holds it from before its app starts until all processes of the app are gone.
pub(crate) struct PortLease {
    port: u16,
    held: Arc<Mutex<BTreeSet<u16>>>,
}

impl PortPool {
    /// Creates the pool for this machine, preferably with ports outside the kernel's ephemeral range. The kernel then
    /// cannot give a port to another program before the app binds it.
    pub(crate) fn of_this_machine() -> Self {
        let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
        Self::new(candidates(range.ok().as_deref().and_then(parse_range)))
    }

    fn new(candidates: Vec<u16>) -> Self {
        Self { candidates, held: Arc::default() }
    }

    /// Reserves a port that is free now, or returns `None` if no port is free. Another program may still bind the port.
    pub(crate) fn allocate(&self, entropy: &dyn Entropy) -> Option<PortLease> {
        let mut random = [0; 4];
        entropy.fill(&mut random);
        let from = usize::try_from(u32::from_ne_bytes(random)).unwrap_or(0) % self.candidates.len().max(1);
        let mut held = lock(&self.held);
        let mut ports = self.candidates.iter().cycle().skip(from).take(self.candidates.len());
        let port = *ports.find(|port| !held.contains(port) && is_free(**port, Before::Unused))?;
        held.insert(port);
        Some(PortLease { port, held: Arc::clone(&self.held) })
    }

    /// Reserves the port of an app that has exited, for the next start of the same app. `None` if another workshop holds
    /// the port, or the app could not bind it now.
    pub(crate) fn reserve_again(&self, port: u16) -> Option<PortLease> {
        self.reserve(port).filter(|_| is_free(port, Before::SameApp))
    }

    /// Reserves the port of an app that an earlier launcher started. `None` if another workshop holds the port.
    pub(crate) fn reserve(&self, port: u16) -> Option<PortLease> {
        lock(&self.held).insert(port).then(|| PortLease { port, held: Arc::clone(&self.held) })
    }
}

impl PortLease {
    pub(crate) fn port(&self) -> u16 {
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

/// The earlier use of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Unused,
    /// The same app listened on the port. Its closed connections (TIME_WAIT) may still hold the port. The kernel lets
    /// the app bind the port nevertheless, if the app sets `SO_REUSEADDR` at each start.
    SameApp,
}

/// True if the port is free on loopback. The check binds the port but does not listen: no client can connect to it.
fn is_free(port: u16, before: Before) -> bool {
    let bind = |socket: TcpSocket, address: SocketAddr| {
        socket.set_reuseaddr(before == Before::SameApp)?;
        socket.bind(address)
    };
    let v4 = TcpSocket::new_v4().and_then(|socket| bind(socket, (Ipv4Addr::LOCALHOST, port).into()));
    // Other IPv6 errors mean that this machine has no IPv6. No program can listen there.
    let v6 = TcpSocket::new_v6().and_then(|socket| bind(socket, (Ipv6Addr::LOCALHOST, port).into()));
    v4.is_ok() && v6.err().is_none_or(|error| error.kind() != io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use launcher_domain::clock::SystemEntropy;

    use super::{PortPool, candidates, parse_range, sockets};

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
        // This ephemeral range contains all candidates, so the pool must use ports of this range.
        assert!(candidates(parse_range("1024 65535")).contains(&40_000));
        assert_eq!(parse_range("odd"), None);
    }
}
