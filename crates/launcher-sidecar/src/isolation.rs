//! `launcher-sidecar wait-isolated`: waits until the cluster's network enforces the pod's NetworkPolicies.
//!
//! Some networks enforce NetworkPolicies only a moment after a pod gets its address. The operator runs this mode as an
//! init container, so that the app cannot start before the policies are enforced.

mod network_up;
mod settings;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout};

use network_up::NetworkUp;
pub use settings::IsolationSettings;

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
    /// The settings contain no forbidden address.
    #[error(
        "SERVICE_FORBIDDEN_ADDR is not set, and neither is KUBERNETES_SERVICE_HOST; set SERVICE_FORBIDDEN_ADDR to HOST:PORT \
         of a service that the network policies forbid"
    )]
    NoAddress,
    /// The forbidden address cannot be resolved to an IP address.
    #[error(
        "SERVICE_FORBIDDEN_ADDR {address} cannot be resolved: {error}; set it to HOST:PORT with an IP address or a resolvable name"
    )]
    Unresolved {
        /// The configured address.
        address: String,
        /// The resolver's error.
        error: std::io::Error,
    },
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
    let network = NetworkUp::watch(&settings.resolv_conf);
    let deadline = began + settings.timeout();
    let mut blocked = Blocked::default();
    loop {
        let tried = Instant::now();
        let attempt = attempt(address).await;
        blocked.record(attempt, tried);
        if attempt == Attempt::Reached {
            network.set_up();
        } else if blocked.is_certain() {
            if network.is_up() {
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
    let address = settings.forbidden_address().ok_or(IsolationError::NoAddress)?;
    let outcome = lookup_host(&address).await.and_then(|mut found| {
        found.next().ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address"))
    });
    outcome.map_err(|error| IsolationError::Unresolved { address, error })
}

async fn attempt(address: SocketAddr) -> Attempt {
    match timeout(ATTEMPT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Attempt::Reached,
        Ok(Err(_)) => Attempt::Refused,
        Err(_) => Attempt::Silent,
    }
}
