//! Pool of idle connections to the app, for reuse by later requests.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::sync::lock;
use launcher_process::listener::Stream;
use rustix::net::RecvFlags;
use tokio::net::TcpSocket;
use tokio::time::Instant;

use crate::transport::{BufferPermits, Socket};

/// Maximum idle time of a connection in the pool.
const IDLE: Duration = Duration::from_secs(30);
/// Maximum number of idle connections in the pool. An ingress controller in front keeps about as many connections to
/// the sidecar. With fewer, requests would often open a new connection, which costs as much as the request itself.
const MAX_IDLE: usize = 256;
/// Connect timeout. It is short, because the app runs on the same node.
const CONNECT: Duration = Duration::from_secs(5);

/// The app's address, and the idle connections to it.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) app: SocketAddr,
    buffers: BufferPermits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<(Socket, Instant)>,
    is_swept: bool,
}

impl Pool {
    pub(crate) fn new(app: SocketAddr) -> Self {
        Self { app, buffers: BufferPermits::default(), state: Mutex::default() }
    }

    /// Takes an idle connection that is still open. With `asks_kernel`, also asks the kernel whether a connection is
    /// open, because the runtime may not know yet that the app has closed it. Requests that cannot be retried need this
    /// check.
    pub(crate) fn take(&self, asks_kernel: bool, now: Instant) -> Option<Socket> {
        loop {
            let (stream, since) = lock(&self.state).idle.pop()?;
            if now.duration_since(since) < IDLE && is_open(&stream, asks_kernel) {
                return Some(stream);
            }
        }
    }

    /// Puts a connection into the pool after its response was complete at time `now`. Closes the connection if the pool
    /// is full.
    pub(crate) fn put(self: &Arc<Self>, stream: Socket, now: Instant) {
        let mut state = lock(&self.state);
        if state.idle.len() < MAX_IDLE {
            state.idle.push((stream, now));
        }
        if !state.is_swept {
            state.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Opens a new connection to the app.
    ///
    /// # Errors
    /// Fails if the app does not accept the connection.
    pub(crate) async fn connect(&self) -> io::Result<Socket> {
        let socket = if self.app.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_nodelay(true)?;
        // Set the buffer sizes before connecting: the kernel derives the first TCP window from them.
        let (sizes, permit) = self.buffers.take();
        socket.set_recv_buffer_size(sizes.receive.try_into().unwrap_or(u32::MAX))?;
        socket.set_send_buffer_size(sizes.send.try_into().unwrap_or(u32::MAX))?;
        let stream = tokio::time::timeout(CONNECT, socket.connect(self.app)).await??;
        Ok(Socket::new(Stream::Tcp(stream), (sizes, permit)))
    }
}

/// Removes idle connections from the pool after [`IDLE`], which closes them. Ends when the pool is empty.
async fn sweep(pool: std::sync::Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut state = lock(&pool.state);
        state.idle.retain(|(_, since)| since.elapsed() < IDLE);
        if state.idle.is_empty() {
            state.idle = Vec::new();
            state.is_swept = false;
            return;
        }
    }
}

/// Returns true if the app has neither closed the connection nor sent bytes without a request.
fn is_open(socket: &Socket, asks_kernel: bool) -> bool {
    let stream = socket.stream();
    let mut byte = [0];
    let would_block =
        |outcome: io::Result<usize>| outcome.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    if !would_block(stream.try_read(&mut byte)) {
        return false;
    }
    if !asks_kernel {
        return true;
    }
    let peeked = rustix::net::recv(stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    would_block(peeked.map(|(count, _)| count).map_err(io::Error::from))
}
