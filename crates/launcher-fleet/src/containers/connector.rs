//! Connects to a sidecar in a container, by its Unix sockets.

use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};
use launcher_process::stop::Stop;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use tokio::net::UnixStream;

use crate::machine::{Connection, SidecarConnector};

/// Header with the addresses of the client and of the proxies before this one.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Name of the socket on which a sidecar serves the owner's requests.
pub(super) const HTTP_SOCKET: &str = "http.sock";
/// Name of the socket on which a sidecar serves its probes.
pub(super) const TELEMETRY_SOCKET: &str = "telemetry.sock";

/// Connects to a socket in a directory.
///
/// The sidecar may write to the directory, so a symbolic link in the place of the socket is refused: it could lead to the
/// engine's socket. The address of a Unix socket has at most 107 bytes (unix(7)), and the path may be longer, so the
/// connection goes through `/proc/self/fd`.
pub(super) async fn connect_in(directory: &Path, socket: &str) -> io::Result<UnixStream> {
    let file = open(directory.join(socket), OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::Socket {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{socket} is not a socket")));
    }
    UnixStream::connect(format!("/proc/self/fd/{}", file.as_raw_fd())).await
}

/// Connects to the sidecar whose sockets are in this directory.
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

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::connect_in;

    #[tokio::test]
    async fn socket_with_a_long_path_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("d".repeat(120));
        std::fs::create_dir(&directory).unwrap();
        let opened = std::fs::File::open(&directory).unwrap();
        let _listener = UnixListener::bind(format!("/proc/self/fd/{}/s", opened.as_raw_fd())).unwrap();
        connect_in(&directory, "s").await.unwrap();
    }

    #[tokio::test]
    async fn symbolic_link_and_file_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(place.path().join("other")).unwrap();
        symlink("other", place.path().join("link")).unwrap();
        std::fs::write(place.path().join("file"), "").unwrap();
        for name in ["link", "file"] {
            let error = connect_in(place.path(), name).await.unwrap_err();
            assert_eq!(error.to_string(), format!("{name} is not a socket"));
        }
    }
}
