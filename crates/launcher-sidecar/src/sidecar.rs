//! The sidecar of one workshop: one owner and one app.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use launcher_process::stop::Stop;
use prometheus_client::registry::Registry;
use tokio::io::DuplexStream;

use crate::auth::Policy;
use crate::connection::Connection;
use crate::exchange::state::SharedState;
use crate::frame::Frame;
use crate::metrics::Activity;
use crate::progress::Progress;
use crate::transport::PeerIo;

/// Reverse proxy in front of one app, which forwards only the owner's requests. Clones share the same state.
#[derive(Debug, Clone)]
pub struct Sidecar {
    pub(crate) state: Arc<SharedState>,
}

impl Sidecar {
    /// Creates a sidecar in front of the app at address `app`. If the address is not a loopback address, 127.0.0.1
    /// replaces it, because a sidecar must forward only to its own app.
    #[must_use]
    pub fn new(policy: Policy, app: SocketAddr, frame: Frame) -> Self {
        Self { state: Arc::new(SharedState::new(policy, app, frame)) }
    }

    /// Serves one client connection until either side closes it, or until `stop` is requested. In-flight requests are
    /// completed first. A stop closes WebSockets with status 1001 (going away). Requests have `peer` at the end of
    /// X-Forwarded-For.
    ///
    /// Must be called within a tokio runtime that has I/O and time enabled.
    pub async fn serve_connection(&self, io: DuplexStream, peer: Option<IpAddr>, stop: Stop) {
        self.serve_io(io, peer, Arc::new(Progress::new()), &stop).await;
    }

    /// Serves one client connection. Its `progress` determines whether a new connection displaces it.
    pub(crate) async fn serve_io<IO: PeerIo>(
        &self,
        io: IO,
        peer: Option<IpAddr>,
        progress: Arc<Progress>,
        stop: &Stop,
    ) {
        let _open = self.state.metrics.connection();
        Connection::new(&self.state, io, peer, progress).run(stop).await;
    }

    /// Returns the usage of the app by its owner.
    #[must_use]
    pub fn activity(&self) -> Activity {
        self.state.metrics.activity()
    }

    /// Registers this sidecar's metrics in `registry`.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.state.metrics.register(registry);
    }

    /// Checks that the app accepts a connection. The first success may begin the lifetime that the frame page shows.
    ///
    /// # Errors
    /// Returns the error of the connection attempt.
    pub async fn check_app(&self) -> std::io::Result<()> {
        self.state.pool.connect().await?;
        self.state.frame.note_ready();
        Ok(())
    }
}
