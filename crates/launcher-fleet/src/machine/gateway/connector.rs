//! Connections from the gateway to sidecars.

use std::fmt::Debug;
use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use http::HeaderMap;
use launcher_process::stop::Stop;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection to a sidecar.
pub(crate) trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<C: AsyncRead + AsyncWrite + Unpin + Send + 'static> Connection for C {}

/// Connects to the sidecar of one workshop.
#[async_trait]
pub(crate) trait SidecarConnector: Debug + Send + Sync {
    /// Opens a connection for one request of the client at address `peer`, and adds to the request's headers what
    /// the sidecar or the app needs. `stop` closes the connection.
    ///
    /// # Errors
    /// The sidecar does not accept the connection, or the app does not answer the gateway's login.
    async fn connect(
        &self,
        headers: &mut HeaderMap,
        peer: Option<IpAddr>,
        stop: &Stop,
    ) -> io::Result<Box<dyn Connection>>;
}
