//! Connects the gateway to a sidecar in a container.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use async_trait::async_trait;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use launcher_process::stop::Stop;
use tokio::net::UnixStream;

use crate::machine::{Connection, SidecarConnector};

/// Header with the addresses of the client and of the proxies before this one.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Connects to the Unix socket of one sidecar.
#[derive(Debug, Clone)]
pub(super) struct SocketConnector(pub(super) PathBuf);

#[async_trait]
impl SidecarConnector for SocketConnector {
    /// The sidecar sees no address of a client on its Unix socket, so the gateway adds the address to the headers.
    async fn connect(
        &self,
        headers: &mut HeaderMap,
        peer: Option<IpAddr>,
        _stop: &Stop,
    ) -> io::Result<Box<dyn Connection>> {
        if let Some(peer) = peer.and_then(|peer| HeaderValue::from_str(&peer.to_canonical().to_string()).ok()) {
            headers.append(X_FORWARDED_FOR, peer);
        }
        Ok(Box::new(UnixStream::connect(&self.0).await?))
    }
}
