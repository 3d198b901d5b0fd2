//! A sidecar: one owner, one app.

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
use crate::places::Progress;
use crate::policy::Policy;
use crate::socket::{PeerIo, Plain, Socket};
use crate::upstream::Pool;

/// Number of warnings about mismatches, and about missing proofs. Further ones are logged at debug level only.
const WARNINGS: u64 = 10;

/// The owner-checking proxy in front of one app. Clones are the same sidecar.
#[derive(Debug, Clone)]
pub struct Sidecar {
    inner: Arc<Inner>,
}

/// What the connections of a sidecar share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) rules: Rules,
    pub(crate) pool: Arc<Pool>,
    pub(crate) metrics: Metrics,
    pub(crate) bulk: BulkPermits,
}

/// A policy, ready to be applied.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) login_cookies: LoginCookies,
    /// What the app is called when the client names no host.
    pub(crate) app_name: String,
    mismatches: Counter,
    unproven: Counter,
}

impl Sidecar {
    /// A sidecar in front of the app at `app`. It never forwards to anything but this machine: of an address elsewhere
    /// only the port is taken.
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

    /// Serves one connection until either side ends it, or the stop is requested and nothing is under way. Requests
    /// under way are finished; WebSockets are closed with 1001 (going away). `peer` is added to X-Forwarded-For.
    ///
    /// Call it within a tokio runtime that has I/O and time enabled.
    pub async fn serve_connection<IO>(&self, io: IO, peer: Option<IpAddr>, stop: Stop)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.serve_io(Plain(io), peer, Arc::new(Progress::new()), &stop).await;
    }

    /// Serves one connection whose place may be needed for another one.
    pub(crate) async fn serve_socket(&self, socket: Socket, peer: IpAddr, progress: Arc<Progress>, stop: Stop) {
        self.serve_io(socket, Some(peer), progress, &stop).await;
    }

    async fn serve_io<IO: PeerIo>(&self, io: IO, peer: Option<IpAddr>, progress: Arc<Progress>, stop: &Stop) {
        let _open = self.inner.metrics.connection();
        Connection::new(&self.inner, io, peer, progress).run(stop).await;
    }

    /// Counts connections that were ended to make room for others.
    pub(crate) fn count_displaced(&self, count: usize) {
        self.inner.metrics.displaced(count);
    }

    /// What its connections share.
    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// How much the app is used.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.inner.metrics.activity()
    }

    /// Lets a registry tell this sidecar's counters.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.inner.metrics.register(registry);
    }

    /// Whether the app accepts a connection.
    ///
    /// # Errors
    /// Why it does not.
    pub async fn check_app(&self) -> std::io::Result<()> {
        self.inner.pool.connect().await.map(drop)
    }
}

impl Rules {
    /// Counts a request whose identity came without a valid proxy secret. True for the first ones, which are logged as
    /// warnings.
    pub(crate) fn count_unproven(&self) -> bool {
        self.unproven.inc() < WARNINGS
    }

    /// Logs a request that is let through only because authentication is not required. `error` is why it names nobody;
    /// without one it names somebody else.
    pub(crate) fn report_mismatch(&self, error: Option<IdentityError>) {
        let before = self.mismatches.inc();
        let reason = error.map_or_else(|| "the request is somebody else's".to_owned(), |error| error.to_string());
        if before < WARNINGS {
            tracing::warn!(reason, "let through a request that is not the owner's: authentication is not required");
        } else {
            tracing::debug!(reason, "let through a request that is not the owner's");
        }
    }
}
