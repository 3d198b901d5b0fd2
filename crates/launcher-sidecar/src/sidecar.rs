//! A sidecar for one owner and one app.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use launcher_domain::identity::IdentityError;
use launcher_process::stop::Stop;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::bulk::BulkPermits;
use crate::connection::Connection;
use crate::cookies::LoginCookies;
use crate::metrics::{Activity, Metrics};
use crate::policy::Policy;
use crate::slots::Progress;
use crate::socket::{PeerIo, Plain, Socket};
use crate::upstream::Pool;

/// Maximum number of warnings about mismatches, and about missing proofs. Further ones are logged at debug level only.
const WARNINGS: u64 = 10;

/// The owner-checking proxy in front of one app. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Sidecar {
    inner: Arc<Inner>,
}

/// State shared by all connections of a sidecar.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) rules: Rules,
    pub(crate) pool: Arc<Pool>,
    pub(crate) metrics: Metrics,
    pub(crate) bulk: BulkPermits,
}

/// A policy prepared for requests, with its counters.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) login_cookies: LoginCookies,
    /// Host sent to the app when the client sends none.
    pub(crate) app_name: String,
    mismatches: Counter,
    unproven: Counter,
}

impl Sidecar {
    /// Creates a sidecar in front of the app at `app`. It forwards only to the loopback interface: of any other address
    /// it uses only the port.
    #[must_use]
    pub fn new(policy: Policy, app: SocketAddr) -> Self {
        let host = if app.ip().is_loopback() { app.ip() } else { IpAddr::V4(Ipv4Addr::LOCALHOST) };
        let app = SocketAddr::new(host, app.port());
        let metrics = Metrics::new();
        let rules = Rules {
            login_cookies: LoginCookies::new(&policy.session_cookie_prefix),
            policy,
            app_name: app.to_string(),
            mismatches: metrics.mismatches(),
            unproven: metrics.unproven(),
        };
        Self { inner: Arc::new(Inner { rules, pool: Arc::new(Pool::new(app)), metrics, bulk: BulkPermits::default() }) }
    }

    /// Serves one connection until either side ends it, or until a stop finds no request in flight. In-flight requests
    /// are completed; WebSockets are closed with 1001 (going away). Appends `peer` to X-Forwarded-For.
    ///
    /// Must be called within a tokio runtime that has I/O and time enabled.
    pub async fn serve_connection<IO>(&self, io: IO, peer: Option<IpAddr>, stop: Stop)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.serve_io(Plain(io), peer, Arc::new(Progress::new()), &stop).await;
    }

    /// Serves one connection that a new connection may displace.
    pub(crate) async fn serve_socket(&self, socket: Socket, peer: IpAddr, progress: Arc<Progress>, stop: Stop) {
        self.serve_io(socket, Some(peer), progress, &stop).await;
    }

    async fn serve_io<IO: PeerIo>(&self, io: IO, peer: Option<IpAddr>, progress: Arc<Progress>, stop: &Stop) {
        let _open = self.inner.metrics.connection();
        Connection::new(&self.inner, io, peer, progress).run(stop).await;
    }

    /// Counts connections terminated to make room for others.
    pub(crate) fn count_displaced(&self, count: usize) {
        self.inner.metrics.displaced(count);
    }

    /// Returns the state shared by its connections.
    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// Returns the app's usage.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.inner.metrics.activity()
    }

    /// Registers this sidecar's metrics.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.inner.metrics.register(registry);
    }

    /// Checks that the app accepts a connection.
    ///
    /// # Errors
    /// The error of the connection attempt.
    pub async fn check_app(&self) -> std::io::Result<()> {
        self.inner.pool.connect().await.map(drop)
    }
}

impl Rules {
    /// Counts a request whose identity has no valid proxy secret. Returns true for the first ones, which are logged as
    /// warnings.
    pub(crate) fn count_unproven(&self) -> bool {
        self.unproven.inc() < WARNINGS
    }

    /// Counts and logs a request that is forwarded only because authentication is not required. `error` is why the
    /// identity is invalid; `None` means that it is valid but not the owner's.
    pub(crate) fn report_mismatch(&self, error: Option<IdentityError>) {
        let before = self.mismatches.inc();
        let reason = error.map_or_else(|| "the identity is not the owner's".to_owned(), |error| error.to_string());
        if before < WARNINGS {
            tracing::warn!(reason, "identity mismatch, forwarding the request: authentication is not required");
        } else {
            tracing::debug!(reason, "identity mismatch, forwarding the request");
        }
    }
}
