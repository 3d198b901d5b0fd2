//! State that all connections of a sidecar share.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::auth::{Policy, Rules};
use crate::frame::Frame;
use crate::memory::{BULK_TRANSFERS, FRAME_STREAMS};
use crate::metrics::Metrics;
use crate::transport::upstream::Pool;

/// Rules, connection pool, metrics, permits and frame page of a sidecar.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) rules: Rules,
    pub(crate) pool: Arc<Pool>,
    pub(crate) metrics: Metrics,
    /// Permits for bulk transfers: large requests and responses get larger kernel buffers. Their number is limited, because
    /// these buffers count as memory of the container.
    pub(crate) bulk: Arc<Semaphore>,
    pub(crate) frame: Frame,
    /// Permits for the event streams of the frame page.
    pub(crate) streams: Semaphore,
}

impl SharedState {
    /// Creates the state for the app at address `app`. If the address is not a loopback address, 127.0.0.1 replaces it,
    /// because a sidecar must forward only to its own app.
    pub(crate) fn new(policy: Policy, app: SocketAddr, frame: Frame) -> Self {
        let host = if app.ip().is_loopback() { app.ip() } else { IpAddr::V4(Ipv4Addr::LOCALHOST) };
        let app = SocketAddr::new(host, app.port());
        let metrics = Metrics::new();
        let rules = Rules::new(policy, app, &frame, &metrics);
        let (bulk, streams) = (Arc::new(Semaphore::new(BULK_TRANSFERS)), Semaphore::new(FRAME_STREAMS));
        Self { rules, pool: Arc::new(Pool::new(app)), metrics, bulk, frame, streams }
    }
}
