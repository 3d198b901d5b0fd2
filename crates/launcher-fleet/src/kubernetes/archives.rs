//! Archives of volumes and of apps: a container of the operator reads the files, and this module receives them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{empty, unfold};
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use http::header::{AUTHORIZATION, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use launcher_domain::ArchiveToken;
use launcher_domain::clock::SystemEntropy;
use launcher_workshop::WorkshopSpec;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::download::Download;
use super::fleet::KubernetesFleet;
use crate::app_files::{check_readable, missing};
use crate::byte_stream::ByteStream;
use crate::port::{Archives, Fleet, ReadError};

/// Maximum time until the pod has sent the head of its response.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time without a byte of the archive. Compression and the user's connection do not count.
const STALL: Duration = Duration::from_secs(60);
/// Maximum buffer of the HTTP client, and receive buffer of the socket in the kernel, in bytes. Together they are smaller
/// than [`crate::STREAM_BYTES`].
const BUFFER: usize = 64 * 1024;

#[async_trait]
impl Archives for KubernetesFleet {
    /// The pod can read only this volume. It ends after this download, also if the launcher is killed.
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        if self.claim(volume).await?.is_none() {
            return Ok(empty().boxed());
        }
        let token = ArchiveToken::random(&SystemEntropy);
        let download = Download::create(self, volume, &token).await?;
        let address = download.until_ready().await?;
        open(address, &token, Some(download)).await
    }

    /// The crash-safe directory is a volume of the pod. Other files of the app exist only in its container.
    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none() && spec.crash_safe_directory.is_some()
    }

    /// A container of the app's pod reads the directory.
    async fn read_app(&self, workshop: &str, token: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let found = self.get(workshop).await?.ok_or_else(|| missing(workshop))?;
        check_readable(&found)?;
        let Some(address) = found.status.and_then(|status| status.archive_address) else {
            return Err(ReadError::NotReady(format!("the operator reports no address for the files of {workshop}")));
        };
        open(address, token, None).await
    }
}

/// Opens the archive at this address.
async fn open(address: SocketAddr, token: &ArchiveToken, download: Option<Download>) -> Result<ByteStream, ReadError> {
    let body = timeout(CONNECT, request(address, token)).await.unwrap_or_else(|elapsed| Err(elapsed.into()));
    let body = body.map_err(|error| ReadError::NotReady(format!("the pod at {address} does not answer: {error}")))?;
    // The stream has the download, which is deleted when the stream is dropped.
    Ok(unfold(Some((body, download)), |state| next_chunk(state).boxed()).boxed())
}

/// Requests the archive. Returns the body of the response.
async fn request(address: SocketAddr, token: &ArchiveToken) -> io::Result<Incoming> {
    let stream = TokioIo::new(connect(address).await?);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(BUFFER).handshake(stream).await.map_err(io::Error::other)?;
    tokio::spawn(connection.map_err(|error| tracing::debug!(%error, "connection to a pod that sends files failed")));
    let bearer = format!("Bearer {}", token.reveal());
    let request = Request::get("/archive").header(HOST, address.to_string()).header(AUTHORIZATION, bearer);
    let request = request.body(Empty::<Bytes>::new()).map_err(io::Error::other)?;
    let response = sender.send_request(request).await.map_err(io::Error::other)?;
    match response.status() {
        StatusCode::OK => Ok(response.into_body()),
        status => Err(io::Error::other(format!("it answered {status}"))),
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_recv_buffer_size(u32::try_from(BUFFER).unwrap_or(u32::MAX))?;
    socket.connect(address).await
}

type State = Option<(Incoming, Option<Download>)>;

/// Returns the next bytes. An error is the last item: hyper reports a body without its last chunk as an error.
async fn next_chunk(state: State) -> Option<(io::Result<Bytes>, State)> {
    let (mut body, download) = state?;
    loop {
        let frame = match timeout(STALL, body.frame()).await {
            Ok(frame) => frame?,
            Err(elapsed) => return Some((Err(elapsed.into()), None)),
        };
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(bytes)) => return Some((Ok(bytes), Some((body, download)))),
            // Trailers.
            Ok(Err(_)) => {}
            Err(error) => return Some((Err(io::Error::other(error)), None)),
        }
    }
}

#[cfg(test)]
mod tests;
