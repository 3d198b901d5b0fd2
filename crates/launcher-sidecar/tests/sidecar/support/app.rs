//! An app that records every received byte.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// An app that listens on a free port. Dropping it stops the app.
pub(crate) struct App {
    pub(crate) addr: SocketAddr,
    record: Record,
    task: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Record {
    seen: Arc<Mutex<Vec<u8>>>,
    connections: Arc<AtomicUsize>,
}

impl App {
    /// Starts an app that handles each connection with `serve`.
    pub(crate) async fn start<F, S>(serve: S) -> Self
    where
        S: Fn(AppStream) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let record = Record::default();
        let recorded = record.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                recorded.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(AppStream { stream, unread: Vec::new(), record: recorded.clone() }));
            }
        });
        Self { addr, record, task }
    }

    /// Starts an app that reads each request completely, and answers with the bytes of `response`.
    pub(crate) async fn answering(response: &'static str) -> Self {
        Self::start(move |mut stream| async move {
            while let Some(head) = stream.read_head().await {
                stream.read_body(&head).await;
                stream.write(response).await;
            }
        })
        .await
    }

    /// Returns all bytes that the app has received so far on all connections.
    pub(crate) fn seen(&self) -> String {
        String::from_utf8_lossy(&self.record.seen.lock().unwrap()).into_owned()
    }

    pub(crate) fn connections(&self) -> usize {
        self.record.connections.load(Ordering::SeqCst)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection to the app.
pub(crate) struct AppStream {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
    record: Record,
}

impl AppStream {
    /// Reads more bytes. Returns false at the end of the stream.
    async fn fill(&mut self) -> bool {
        let mut area = vec![0; 64 * 1024];
        let count = self.stream.read(&mut area).await.unwrap_or(0);
        self.unread.extend_from_slice(&area[..count]);
        self.record.seen.lock().unwrap().extend_from_slice(&area[..count]);
        count > 0
    }

    /// Reads the next head, including its empty line. Returns `None` if the stream ends first.
    pub(crate) async fn read_head(&mut self) -> Option<String> {
        self.read_until(b"\r\n\r\n").await
    }

    /// Reads up to and including the bytes `end`. Returns `None` if the stream ends first.
    pub(crate) async fn read_until(&mut self, end: &[u8]) -> Option<String> {
        loop {
            if let Some(at) = self.unread.windows(end.len()).position(|window| window == end) {
                let text = self.unread.drain(..at + end.len()).collect();
                return Some(String::from_utf8(text).unwrap());
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    pub(crate) async fn read_exact(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.unread.len() < length {
            if !self.fill().await {
                return None;
            }
        }
        Some(self.unread.drain(..length).collect())
    }

    /// Waits for the end of the stream. Returns false if bytes arrive first.
    pub(crate) async fn read_end(&mut self) -> bool {
        self.unread.is_empty() && !self.fill().await
    }

    /// Discards the recorded bytes. Large bodies would otherwise fill the memory.
    pub(crate) fn forget(&mut self) {
        self.record.seen.lock().unwrap().clear();
    }

    async fn read_body(&mut self, head: &str) {
        if head.contains("Transfer-Encoding: chunked\r\n") {
            self.read_until(b"0\r\n\r\n").await;
        } else if let Some((_, rest)) = head.split_once("Content-Length: ") {
            self.read_exact(rest.split("\r\n").next().unwrap().parse().unwrap()).await;
        }
    }

    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // Ignore the error: some tests expect that the sidecar has closed the connection.
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }
}
