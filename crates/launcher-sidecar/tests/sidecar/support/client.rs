//! A client that sends bytes unchanged, and parses responses without the sidecar's parsers.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::soon;

/// A connection to the sidecar.
pub(crate) struct Client<IO> {
    pub(crate) io: IO,
    unread: Vec<u8>,
}

/// A parsed response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    /// Returns the value of the first header line with this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.split("\r\n").filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Client<TcpStream> {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        let io = TcpStream::connect(addr).await.unwrap();
        io.set_nodelay(true).unwrap();
        Self::over(io)
    }
}

impl<IO: AsyncRead + AsyncWrite + Unpin> Client<IO> {
    pub(crate) fn over(io: IO) -> Self {
        Self { io, unread: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        soon(self.io.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Reads until the sidecar closes the connection.
    pub(crate) async fn read_to_end(&mut self) -> String {
        while self.fill().await {}
        String::from_utf8_lossy(&std::mem::take(&mut self.unread)).into_owned()
    }

    async fn fill(&mut self) -> bool {
        let mut area = vec![0; 64 * 1024];
        // Ignore the error: a reset counts as the end of the connection.
        let count = soon(self.io.read(&mut area)).await.unwrap_or(0);
        self.unread.extend_from_slice(&area[..count]);
        count > 0
    }

    pub(crate) async fn read_until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.unread.windows(end.len()).position(|window| window == end) {
                return self.unread.drain(..at + end.len()).collect();
            }
            assert!(self.fill().await, "the connection closed after {:?}", String::from_utf8_lossy(&self.unread));
        }
    }

    pub(crate) async fn read_exact(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            assert!(self.fill().await, "the connection closed after {:?}", String::from_utf8_lossy(&self.unread));
        }
        self.unread.drain(..length).collect()
    }

    /// Waits for the end of the connection. Returns false if a byte arrives first.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.fill().await
    }

    pub(crate) async fn read_head(&mut self) -> Response {
        let head = String::from_utf8(self.read_until(b"\r\n\r\n").await).unwrap();
        let status = head[9..12].parse().unwrap();
        Response { status, head, body: String::new() }
    }

    /// Reads one response. Reads its body only if the head has a Content-Length.
    pub(crate) async fn read_response(&mut self) -> Response {
        let mut response = self.read_head().await;
        if let Some(length) = response.header("Content-Length") {
            let body = self.read_exact(length.parse().unwrap()).await;
            response.body = String::from_utf8(body).unwrap();
        }
        response
    }
}
