//! Reads an event stream.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerEvent {
    /// Type of the event.
    pub event: String,
    /// Identifier of the event. A client that reconnects resumes after it.
    pub id: String,
    /// Data of the event.
    pub data: Value,
}

/// An event stream that is being received.
pub struct EventStream {
    /// The status of the answer.
    pub status: http::StatusCode,
    /// The headers of the answer.
    pub headers: http::HeaderMap,
    chunks: BoxStream<'static, Vec<u8>>,
    text: String,
    /// Value of the last `retry:` line in milliseconds: the delay before a client reconnects.
    pub retry: Option<u64>,
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("status", &self.status).finish_non_exhaustive()
    }
}

impl EventStream {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let chunks = response.bytes_stream().map(|chunk| chunk.map(|chunk| chunk.to_vec()).unwrap_or_default());
        Self { status, headers, chunks: chunks.boxed(), text: String::new(), retry: None }
    }

    /// The next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<ServerEvent> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                if let Some(event) = self.read(&block) {
                    return Some(event);
                }
            }
            let chunk = self.chunks.next().await?;
            self.text.push_str(&String::from_utf8_lossy(&chunk));
        }
    }

    fn read(&mut self, block: &str) -> Option<ServerEvent> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        if let Some(retry) = field("retry") {
            self.retry = retry.parse().ok();
        }
        let data = serde_json::from_str(field("data")?).unwrap_or(Value::Null);
        Some(ServerEvent {
            event: field("event").unwrap_or("message").to_owned(),
            id: field("id").unwrap_or_default().to_owned(),
            data,
        })
    }
}
