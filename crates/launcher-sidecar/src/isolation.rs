//! `launcher-sidecar wait-isolated`: waits until the cluster's network enforces the pod's NetworkPolicies.
//!
//! Some networks enforce NetworkPolicies only a moment after a pod gets its address. The operator runs this mode as an
//! init container, so that the app cannot start before the policies are enforced.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use launcher_process::telemetry::LogSettings;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::resolv_conf::{name_servers, search_domain};

/// Maximum time of one connection attempt. If a policy drops the packets, the attempt gets no answer.
const ATTEMPT: Duration = Duration::from_millis(250);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// Number of consecutive refused attempts that prove isolation. A single refusal may come from a reload of the
/// network's rules.
const REFUSALS: u32 = 3;
/// Time without an answer that proves isolation. When many pods start at once, an open network may also stall, but for
/// a shorter time.
const SILENCE: Duration = Duration::from_millis(1200);
/// Time after which a blocked address counts as isolated although no DNS server has answered. The app then starts, and
/// a warning says that the policies could not be verified.
const NETWORK_GRACE: Duration = Duration::from_secs(2);

/// Reason why the wait for isolation failed.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// The settings contain no forbidden address, or it cannot be resolved to an IP address.
    #[error("{0}")]
    NoAddress(String),
    /// The forbidden address was still reachable at the timeout.
    #[error(
        "network-not-isolated: {address} can still be reached after a wait of {seconds} s, although the network policies \
         forbid it. The cluster's network does not enforce NetworkPolicies, or this namespace has none. Apply them, use a \
         network that enforces them (Calico, Cilium, kube-router), or turn off the wait \
         (networkPolicy.waitForIsolation: false). Without the wait, workshops may reach the cluster's network"
    )]
    NotIsolated {
        /// The resolved forbidden address.
        address: SocketAddr,
        /// Elapsed seconds since the wait began.
        seconds: u64,
    },
}

/// Waits until the forbidden address is blocked while the pod's network is up. Returns the duration of the wait.
///
/// The network counts as up once the forbidden address was reached, or a DNS server has answered. Without this check, a
/// network that is not ready yet would look like an enforced policy. A refused connection counts as blocked, because
/// some networks refuse forbidden connections instead of dropping their packets.
///
/// # Errors
/// Returns [`IsolationError`] if the address is missing or cannot be resolved, or is still reachable at the timeout.
pub async fn wait_isolated(settings: &IsolationSettings) -> Result<Duration, IsolationError> {
    let began = Instant::now();
    let address = resolve(settings).await?;
    let is_up = Arc::new(AtomicBool::new(false));
    let _queries = watch_network(&settings.resolv_conf, &is_up);
    let deadline = began + settings.timeout();
    let mut blocked = Blocked::default();
    loop {
        let tried = Instant::now();
        let attempt = attempt(address).await;
        blocked.record(attempt, tried);
        if attempt == Attempt::Reached {
            is_up.store(true, Ordering::Relaxed);
        } else if blocked.is_certain() {
            if is_up.load(Ordering::Relaxed) {
                return Ok(began.elapsed());
            }
            if began.elapsed() >= NETWORK_GRACE {
                tracing::warn!(%address, "cannot verify network policies: neither the address nor any DNS server is reachable; starting the app");
                return Ok(began.elapsed());
            }
        }
        if Instant::now() >= deadline {
            return Err(IsolationError::NotIsolated { address, seconds: began.elapsed().as_secs() });
        }
        sleep(PAUSE).await;
    }
}

/// Outcome of one connection attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// The connection was established.
    Reached,
    /// The connection was refused, or the address is unreachable.
    Refused,
    /// No answer arrived in time.
    Silent,
}

/// Evidence that the forbidden address is blocked. An attempt that reaches the address resets it.
#[derive(Debug, Default)]
struct Blocked {
    refusals: u32,
    silent_since: Option<Instant>,
}

impl Blocked {
    fn record(&mut self, attempt: Attempt, tried: Instant) {
        match attempt {
            Attempt::Reached => *self = Self::default(),
            Attempt::Refused => *self = Self { refusals: self.refusals + 1, silent_since: None },
            Attempt::Silent => {
                self.refusals = 0;
                self.silent_since.get_or_insert(tried);
            }
        }
    }

    fn is_certain(&self) -> bool {
        self.refusals >= REFUSALS || self.silent_since.is_some_and(|since| since.elapsed() >= SILENCE)
    }
}

async fn resolve(settings: &IsolationSettings) -> Result<SocketAddr, IsolationError> {
    const NOT_SET: &str = "SERVICE_FORBIDDEN_ADDR is not set, and neither is KUBERNETES_SERVICE_HOST; set \
                           SERVICE_FORBIDDEN_ADDR to HOST:PORT of a service that the network policies forbid";
    let address = settings.forbidden_address().ok_or_else(|| IsolationError::NoAddress(NOT_SET.to_owned()))?;
    let outcome = lookup_host(&address).await.and_then(|mut found| {
        found.next().ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address"))
    });
    outcome.map_err(|error| {
        IsolationError::NoAddress(format!(
            "SERVICE_FORBIDDEN_ADDR {address} cannot be resolved: {error}; set it to HOST:PORT with an IP address or a \
             resolvable name"
        ))
    })
}

async fn attempt(address: SocketAddr) -> Attempt {
    match timeout(ATTEMPT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Attempt::Reached,
        Ok(Err(_)) => Attempt::Refused,
        Err(_) => Attempt::Silent,
    }
}

/// Pause before a query is sent again. The network may lose the first packets of a new pod.
const RETRY: Duration = Duration::from_millis(50);

/// Sends DNS queries to detect whether the network is up: the network policies allow DNS, so a DNS server answers once the
/// network is up. Queries each DNS server of the file `resolv_conf` until `is_up` is true, which an answer causes. Sends no
/// query if the file cannot be read. Dropping the returned tasks ends the queries.
fn watch_network(resolv_conf: &Path, is_up: &Arc<AtomicBool>) -> JoinSet<()> {
    let text = std::fs::read_to_string(resolv_conf).unwrap_or_default();
    let query = query(search_domain(&text));
    let mut queries = JoinSet::new();
    for server in name_servers(&text) {
        let (is_up, query) = (Arc::clone(is_up), query.clone());
        queries.spawn(async move {
            while !is_up.load(Ordering::Relaxed) {
                if answers(server, &query).await {
                    is_up.store(true, Ordering::Relaxed);
                } else {
                    sleep(RETRY).await;
                }
            }
        });
    }
    queries
}

/// Builds a query for the A record of a name (RFC 1035, 4.1). Omits labels that are too long: the query may then name
/// another domain, but any answer shows that the network is up.
fn query(name: &str) -> Vec<u8> {
    const HEAD: [u8; 12] = [0x57, 0x4c, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    const TYPE_A_CLASS_IN: [u8; 4] = [0, 1, 0, 1];
    let mut query = HEAD.to_vec();
    for label in name.split('.').filter(|label| (1..=63).contains(&label.len())).take(8) {
        query.push(u8::try_from(label.len()).unwrap_or_default());
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&TYPE_A_CLASS_IN);
    query
}

async fn answers(server: SocketAddr, query: &[u8]) -> bool {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let asked = async {
        let socket = UdpSocket::bind((any, 0)).await?;
        // Connect the socket, so that it receives only datagrams of this server.
        socket.connect(server).await?;
        socket.send(query).await?;
        socket.recv(&mut [0; 512]).await
    };
    matches!(timeout(Duration::from_millis(500), asked).await, Ok(Ok(_)))
}

/// Init container mode: waits until the network enforces the pod's network policies. Exits with 0 once an address that
/// the policies forbid is unreachable, and with 3 and the message network-not-isolated if it is still reachable at the
/// timeout
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "launcher-sidecar wait-isolated", version)]
pub struct IsolationSettings {
    /// Address of a listening service that the policies forbid; default: the cluster's API server
    #[arg(long, env = "SERVICE_FORBIDDEN_ADDR", value_name = "HOST:PORT")]
    forbidden_addr: Option<String>,

    /// Maximum wait in seconds
    #[arg(long, env = "SERVICE_ISOLATION_TIMEOUT", value_name = "SECONDS", default_value = "30",
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    isolation_timeout: u32,

    /// File with the name servers; an answer of one of them shows that the network is up
    #[arg(long, env = "SERVICE_RESOLV_CONF", value_name = "FILE", default_value = "/etc/resolv.conf")]
    resolv_conf: PathBuf,

    /// File for the failure message, which Kubernetes shows as the termination message
    #[arg(long, env = "SERVICE_TERMINATION_LOG", value_name = "FILE", default_value = "/dev/termination-log")]
    pub termination_log: PathBuf,

    /// Host of the API server, which Kubernetes sets in each container
    #[arg(long, env = "KUBERNETES_SERVICE_HOST", value_name = "HOST", hide = true)]
    kubernetes_host: Option<String>,

    /// Port of the API server, which Kubernetes sets in each container
    #[arg(long, env = "KUBERNETES_SERVICE_PORT", value_name = "PORT", default_value = "443", hide = true)]
    kubernetes_port: u16,

    /// Log settings
    #[command(flatten)]
    pub logs: LogSettings,
}

impl IsolationSettings {
    /// Returns the forbidden address as HOST:PORT. The default is the cluster's API server. `None` outside of a cluster
    /// if no address is configured.
    fn forbidden_address(&self) -> Option<String> {
        let api_server = || {
            let host = self.kubernetes_host.as_deref()?;
            let port = self.kubernetes_port;
            Some(if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
        };
        self.forbidden_addr.clone().or_else(api_server)
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(self.isolation_timeout.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dns_query_has_one_question_for_the_name() {
        let query = query("a.example");
        assert_eq!(query[12..], *b"\x01a\x07example\x00\x00\x01\x00\x01");
        assert_eq!(query[4..6], [0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_consecutive_refusals_prove_isolation() {
        let mut blocked = Blocked::default();
        for other in [Attempt::Silent, Attempt::Reached] {
            for attempt in [Attempt::Refused, Attempt::Refused, other, Attempt::Refused, Attempt::Refused] {
                blocked.record(attempt, Instant::now());
                assert!(!blocked.is_certain(), "{attempt:?} {blocked:?}");
            }
            blocked = Blocked::default();
        }
        for certain in [false, false, true] {
            blocked.record(Attempt::Refused, Instant::now());
            assert_eq!(blocked.is_certain(), certain);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_uninterrupted_silence_proves_isolation() {
        for other in [Attempt::Refused, Attempt::Reached] {
            let mut blocked = Blocked::default();
            for attempt in [Attempt::Silent, other, Attempt::Silent] {
                blocked.record(attempt, Instant::now());
                tokio::time::advance(SILENCE * 2 / 3).await;
                assert!(!blocked.is_certain(), "{attempt:?} {blocked:?}");
            }
            blocked.record(Attempt::Silent, Instant::now());
            tokio::time::advance(SILENCE / 3).await;
            assert!(blocked.is_certain(), "{other:?} {blocked:?}");
        }
    }
}
