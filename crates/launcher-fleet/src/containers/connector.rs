//! Connects to a sidecar in a container, by its Unix sockets.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use launcher_process::stop::Stop;
use tokio::net::UnixStream;

use crate::machine::{Connection, SidecarConnector};

/// Header with the addresses of the client and of the proxies before this one.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Name of the socket on which a sidecar serves the owner's requests.
pub(super) const HTTP_SOCKET: &str = "http.sock";
/// Name of the socket on which a sidecar serves its probes.
pub(super) const TELEMETRY_SOCKET: &str = "telemetry.sock";

/// Connects to the sockets in a directory. The path of the directory may be longer than the address of a Unix socket,
/// which has at most 107 bytes (unix(7)).
pub(super) async fn connect_in(directory: &Path, socket: &str) -> io::Result<UnixStream> {
    let directory = File::open(directory)?;
    UnixStream::connect(format!("/proc/self/fd/{}/{socket}", directory.as_raw_fd())).await
}

/// Connects to the sidecar whose sockets are in this directory.
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
        Ok(Box::new(connect_in(&self.0, HTTP_SOCKET).await?))
    }
}
