//! `launcher-sidecar wait-isolated`: waits until the network enforces the pod's NetworkPolicies.
//!
//! Some networks enforce policies only a moment after a pod has its address. The operator runs this mode as an init
//! container, so that the app starts only once the policies hold.

mod network_up;
mod settings;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout_at};

use network_up::NetworkUp;
pub use settings::IsolationSettings;

/// Maximum time of one connection attempt. A policy that drops packets gives no answer.
const ATTEMPT: Duration = Duration::from_millis(250);
/// Offset between the two attempts of a look, so that one rule reload does not hide an open network from both.
const OFFSET: Duration = Duration::from_millis(20);
/// Pause between two looks while the address can still be reached.
const PAUSE: Duration = Duration::from_millis(20);
/// Time after which a blocked address counts as isolation although nothing has shown that the pod's network is up.
const NETWORK_GRACE: Duration = Duration::from_secs(2);

/// Why the wait ended without isolation.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// No address to try.
    #[error(
        "SERVICE_FORBIDDEN_ADDR is not set, and neither is KUBERNETES_SERVICE_HOST: write HOST:PORT of a service that the \
         network policies forbid"
    )]
    NoAddress,
    /// The address has no IP address.
    #[error("SERVICE_FORBIDDEN_ADDR {address} cannot be resolved: {error}; write HOST:PORT")]
    Unresolved {
        /// The address as it was given.
        address: String,
        /// What the resolver said.
        error: std::io::Error,
    },
    /// The address could be reached until the end.
    #[error(
        "network-not-isolated: {address} can still be reached {seconds} s after the start of the pod, although the network \
         policies forbid it. The cluster's network does not enforce NetworkPolicies, or they are missing in this namespace. \
         Apply them, use a network that enforces them (Calico, Cilium, kube-router), or turn off the wait \
         (networkPolicy.waitForIsolation: false): workshops can then reach the cluster's network"
    )]
    NotIsolated {
        /// The address that was tried.
        address: SocketAddr,
        /// Seconds that were waited.
        seconds: u64,
    },
}

/// Waits until the forbidden address is blocked twice in a row and the pod's network is known to be up. Returns how long
/// that took.
///
/// The network is up once the forbidden address was reached or a DNS server answered: a missing route must not look like a
/// policy. A refused connection counts as blocked, because policies reject in this way too.
///
/// # Errors
/// [`IsolationError`].
pub async fn wait_isolated(settings: &IsolationSettings) -> Result<Duration, IsolationError> {
    let began = Instant::now();
    let address = resolve(settings).await?;
    let network = NetworkUp::watch(&settings.resolv_conf);
    let deadline = began + settings.timeout();
    loop {
        if is_blocked(address).await {
            if network.is_up() {
                return Ok(began.elapsed());
            }
            if began.elapsed() >= NETWORK_GRACE {
                tracing::warn!(%address, "no DNS server has answered: taking the blocked address as isolation");
                return Ok(began.elapsed());
            }
        } else {
            network.set_up();
        }
        if Instant::now() >= deadline {
            return Err(IsolationError::NotIsolated { address, seconds: began.elapsed().as_secs() });
        }
        sleep(PAUSE).await;
    }
}

async fn resolve(settings: &IsolationSettings) -> Result<SocketAddr, IsolationError> {
    let address = settings.forbidden_address().ok_or(IsolationError::NoAddress)?;
    let outcome = lookup_host(&address).await.and_then(|mut found| {
        found.next().ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "no address has this name"))
    });
    outcome.map_err(|error| IsolationError::Unresolved { address, error })
}

/// One look: two connection attempts, of which neither succeeds.
async fn is_blocked(address: SocketAddr) -> bool {
    let second = async {
        sleep(OFFSET).await;
        is_reached(address).await
    };
    let (first, second) = tokio::join!(is_reached(address), second);
    !first && !second
}

async fn is_reached(address: SocketAddr) -> bool {
    matches!(timeout_at(Instant::now() + ATTEMPT, TcpStream::connect(address)).await, Ok(Ok(_)))
}
