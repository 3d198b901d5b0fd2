//! Serves a client connection until it closes. At the connection limit of a listener, a connection without progress is
//! closed to make room for a new one.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::serve::head_tracker::{HeadTracker, IDLE_TIMEOUT};
use crate::serve::limits::{MAX_CLOSING, ServeLimits};
use crate::serve::stream::BoundedStream;
use crate::stop::Stop;

/// Maximum size of hyper's read buffer, in bytes. hyper refuses a larger head, except one of up to twice this size that
/// arrives in one piece.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Maximum number of header lines of a request.
const MAX_HEADERS: usize = 100;
/// Idle time of a connection before the kernel probes whether the client still exists (TCP keepalive).
const KEEPALIVE: Duration = Duration::from_secs(60);
/// Maximum wait for an incomplete head after the listener has closed. A head that was sent before the close arrives
/// within this time.
const LAST_HEAD_TIMEOUT: Duration = Duration::from_secs(1);

/// Error of a response body that ends before it is complete.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// A response body. It hides the concrete type, so that all handlers return the same type.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Request extension with which a handler configures the connection of its request.
#[derive(Debug, Clone)]
pub struct Connection(HeadTracker);

impl Connection {
    /// Marks the connection as carrying a workshop's traffic. Its kernel buffers become larger, its client may read
    /// nothing for 5 minutes, and a slow body or a slow reader no longer counts as stuck.
    pub fn carry_workshop(&self) {
        self.0.relax();
    }
}

/// State that all connections of a listener share.
#[derive(Debug, Clone)]
pub(super) struct ServerContext<A> {
    pub(super) stop: Stop,
    /// Cancelled when the listener closes. Each connection then answers the request that it has begun to receive, and
    /// closes. A new connection waits up to one second for its first request.
    pub(super) closed: CancellationToken,
    pub(super) answer: A,
}

/// Answers the requests of one connection until it closes.
pub(super) async fn serve<A, F>(stream: TcpStream, peer: SocketAddr, slot: ConnectionSlot, server: ServerContext<A>)
where
    A: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    set_options(&stream);
    let tracker = slot.tracker.clone();
    let ServerContext { stop, closed, answer } = server;
    let completed = tracker.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        completed.complete(!request.body().is_end_stream());
        request.extensions_mut().insert(Connection(completed.clone()));
        let (response, stop, tracker) = (answer(request, peer), stop.clone(), completed.clone());
        async move {
            let mut response = response.await;
            tracker.answer();
            let is_last = stop.is_requested() || tracker.was_large();
            if is_last && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(tracker.clone())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(BoundedStream::new(stream, slot)), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        biased;
        outcome = connection.as_mut() => Some(outcome),
        () = closed.cancelled() => {
            // Wait until a head that has begun is complete. Also wait for the first head of a new connection: its
            // client may have sent the head before the listener closed.
            let last_head = poll_fn(|cx| match connection.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                Poll::Pending if tracker.is_receiving_head() => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            });
            tokio::time::timeout(LAST_HEAD_TIMEOUT, last_head).await.ok().flatten()
        }
    };
    let outcome = match ended {
        Some(outcome) => outcome,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, %peer, "client connection failed, closed it");
    }
}

fn set_options(stream: &TcpStream) {
    // Most answers are small, and clients wait for them. Low latency matters more than fewer packets.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "setting TCP_NODELAY failed, answers may be delayed");
    }
    // Without TCP keepalive, a WebSocket or event stream to a vanished client would stay open forever.
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE)) {
        tracing::debug!(%error, "setting TCP keepalive failed, the connection of a vanished client may stay open");
    }
}

/// Minimum time without progress before a connection may be closed to make room.
const MIN_STALL_TIME: Duration = Duration::from_millis(250);
/// Interval between two searches for a connection to close, while a new connection waits for a slot.
const SLOT_RETRY: Duration = Duration::from_millis(20);
/// Minimum time between two warnings about the connection limit.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// The open connections of a listener. Clones share the same connections.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limits: ServeLimits,
    large_heads: Arc<Semaphore>,
    large_answers: Arc<Semaphore>,
    next: AtomicU64,
    open: Mutex<Open>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    connections: HashMap<u64, OpenConnection>,
    /// Number of connections whose task is aborted but still holds its memory.
    closing: usize,
    warned: Option<Instant>,
}

#[derive(Debug)]
struct OpenConnection {
    tracker: HeadTracker,
    task: Option<AbortHandle>,
}

/// The slot of one connection. The connection's stream owns it, so that closing the socket also frees the slot.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    pub(super) id: u64,
    /// Progress tracker of this slot's connection.
    pub(super) tracker: HeadTracker,
    connections: Connections,
}

impl Connections {
    pub(super) fn new(limits: ServeLimits) -> Self {
        Self(Arc::new(Inner {
            large_heads: Arc::new(Semaphore::new(limits.large_heads)),
            large_answers: Arc::new(Semaphore::new(limits.large_answers)),
            next: AtomicU64::new(0),
            open: Mutex::default(),
            closed: Notify::new(),
            limits,
        }))
    }

    /// Waits for a slot for an accepted connection. If none is free, closes a connection without progress.
    pub(super) async fn admit(&self) -> ConnectionSlot {
        loop {
            if self.make_room() {
                return self.admit_over_limit();
            }
            drop(timeout(SLOT_RETRY, self.0.closed.notified()).await);
        }
    }

    /// Returns a slot without a check of the connection limit. A closing listener thus serves all connections that
    /// clients have already established.
    pub(super) fn admit_over_limit(&self) -> ConnectionSlot {
        let (id, tracker) = (self.0.next.fetch_add(1, Ordering::Relaxed), HeadTracker::new());
        self.lock().connections.insert(id, OpenConnection { tracker: tracker.clone(), task: None });
        ConnectionSlot { id, tracker, connections: self.clone() }
    }

    /// Records the task that serves a connection. Does nothing if the connection has already ended.
    pub(super) fn set_task(&self, id: u64, task: AbortHandle) {
        if let Some(connection) = self.lock().connections.get_mut(&id) {
            connection.task = Some(task);
        }
    }

    /// Returns true if a slot is free. At the limit, first closes the connection that has made no progress for the
    /// longest time. Connections with a stuck head, body or answer are closed before idle ones.
    fn make_room(&self) -> bool {
        let mut open = self.lock();
        if open.connections.len() < self.0.limits.connections {
            return true;
        }
        let now = Instant::now();
        self.warn(&mut open, now);
        if open.closing >= MAX_CLOSING {
            return false;
        }
        let Some(evicted) = open.longest_stalled(now).and_then(|id| open.connections.remove(&id)) else {
            return false;
        };
        open.closing += 1;
        drop(open);
        if let Some(task) = evicted.task {
            tracing::debug!("closing stalled connection to make room for a new one");
            task.abort();
        }
        true
    }

    fn warn(&self, open: &mut Open, now: Instant) {
        if open.warned.is_none_or(|warned| now.duration_since(warned) >= WARN_INTERVAL) {
            open.warned = Some(now);
            let connections = self.0.limits.connections;
            tracing::warn!(connections, "connection limit reached, closing stalled connections");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Returns the connection to close at the connection limit: the one that has been stuck for the longest time, or
    /// the one that has been idle for the longest time if none is stuck. Ignores connections that have been stuck or
    /// idle for less than [`MIN_STALL_TIME`].
    fn longest_stalled(&self, now: Instant) -> Option<u64> {
        let served = self.connections.iter().filter(|(_, connection)| connection.task.is_some());
        let unproductive = served.filter_map(|(id, connection)| Some((connection.tracker.unproductive()?, *id)));
        let longest = unproductive.filter(|((_, since), _)| now.duration_since(*since) >= MIN_STALL_TIME).min();
        longest.map(|(_, id)| id)
    }
}

impl ConnectionSlot {
    /// Memory budget for large heads, shared by all connections. One permit is one byte.
    pub(super) fn large_heads(&self) -> Arc<Semaphore> {
        Arc::clone(&self.connections.0.large_heads)
    }

    /// Reserves `bytes` of memory for a larger send buffer. `None` if the shared budget is used up.
    pub(super) fn take_large_answer(&self, bytes: u32) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.connections.0.large_answers).try_acquire_many_owned(bytes).ok()
    }

    pub(super) fn limits(&self) -> &ServeLimits {
        &self.connections.0.limits
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        if open.connections.remove(&self.id).is_none() {
            open.closing = open.closing.saturating_sub(1);
        }
        drop(open);
        self.connections.0.closed.notify_one();
    }
}
