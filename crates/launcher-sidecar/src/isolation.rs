//! `launcher-sidecar wait-isolated`: waits until the network enforces the pod's NetworkPolicies.
//!
//! Some networks enforce policies only a moment after a pod gets its address. The operator runs this mode as an init
//! container, so that the app starts only once the policies are enforced.

mod network_up;
mod settings;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout};

use network_up::NetworkUp;
pub use settings::IsolationSettings;

/// Maximum time of one connection attempt. A policy that drops packets gives no answer.
const ATTEMPT: Duration = Duration::from_millis(250);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// Number of refused attempts in a row that count as isolation: one alone may be a rule reload.
const REFUSALS: u32 = 3;
/// Time without any answer that counts as isolation. Shorter silences occur where many pods start at once: the network
/// stalls, and is open again afterwards.
const SILENCE: Duration = Duration::from_millis(1200);
/// Time after which a blocked address counts as isolation without evidence that the pod's network is up.
const NETWORK_GRACE: Duration = Duration::from_secs(2);

/// Error of a wait that ended without isolation.
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
        /// The configured address.
        address: String,
        /// The resolver's error.
        error: std::io::Error,
    },
    /// The address was still reachable at the timeout.
    #[error(
        "network-not-isolated: {address} can still be reached {seconds} s after the start of the pod, although the network \
         policies forbid it. The cluster's network does not enforce NetworkPolicies, or they are missing in this namespace. \
         Apply them, use a network that enforces them (Calico, Cilium, kube-router), or turn off the wait \
         (networkPolicy.waitForIsolation: false): workshops can then reach the cluster's network"
    )]
    NotIsolated {
        /// The address of the connection attempts.
        address: SocketAddr,
        /// Elapsed seconds since the wait began.
        seconds: u64,
    },
}

/// Waits until the forbidden address is blocked and the pod's network is known to be up. Returns how long that took.
///
/// The network is up once the forbidden address was reached or a DNS server answered: a missing route must not look
/// like a policy. A refused connection counts as blocked, because policies reject in this way too.
///
/// # Errors
/// [`IsolationError`].
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
                tracing::warn!(%address, "no DNS server answered, treating the blocked address as isolation");
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
    /// Connected.
    Reached,
    /// Refused or unreachable.
    Refused,
    /// No answer in time.
    Silent,
}

/// Evidence that the address is blocked, since it was last reached.
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
        found.next().ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "no address has this name"))
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
