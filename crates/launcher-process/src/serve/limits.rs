//! Bounds on the memory that the connections of one listener can hold.

use std::time::Duration;

use super::connections::MAX_CLOSING;
use crate::listen::ListenOptions;

const KIB: usize = 1024;

/// Default maximum number of concurrent connections of a service.
pub const DEFAULT_CONNECTIONS: usize = 1024;

/// Bounds on the connections of a listener. [`ServeLimits::worst_case_bytes`] adds them up.
#[derive(Debug, Clone)]
pub struct ServeLimits {
    /// Maximum number of connections. At the limit, a new connection replaces the one that has made no progress for
    /// longest; if all make progress, the new one waits.
    pub connections: usize,
    /// Maximum number of connections that wait to be accepted.
    pub backlog: u32,
    /// Kernel buffers of a connection; none for the kernel's own sizing.
    pub buffers: Option<Buffers>,
    /// Memory for the parts of request heads beyond the first 8 KiB, for all connections together, in bytes.
    pub large_heads: usize,
    /// Memory for larger send buffers of connections with a large answer, for all connections together, in bytes.
    pub large_answers: usize,
    /// Maximum time without progress of a write. After that the connection is closed.
    pub write_stall: Duration,
}

/// Requested sizes of a connection's kernel buffers, in bytes. Linux doubles them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// SO_RCVBUF.
    pub receive: usize,
    /// SO_SNDBUF.
    pub send: usize,
}

/// Memory of a connection outside its socket's buffers, in bytes: hyper's read buffer (16 KiB) and head buffer (8 KiB),
/// an answer without a permit (8 KiB), the state of the connection and its request (8 KiB), and the kernel's rounding
/// (4 KiB).
const OTHER_BYTES: usize = 44 * KIB;

/// Requested send buffer of a connection with a large answer. The loopback interface has segments of 64 KiB: with less
/// than 48 KiB each of them waits for a delayed acknowledgement, 40 ms.
const LARGE_SEND_BUFFER: usize = 64 * KIB;

impl ServeLimits {
    /// For a service with a memory limit.
    #[must_use]
    pub const fn service() -> Self {
        Self {
            connections: DEFAULT_CONNECTIONS,
            // If the backlog is full, refused clients retry after a second or more.
            backlog: 1536,
            buffers: Some(Buffers { receive: 8 * KIB, send: 16 * KIB }),
            large_heads: 20 * KIB * KIB,
            large_answers: 16 * KIB * KIB,
            write_stall: Duration::from_secs(30),
        }
    }

    /// For health and metrics, which have few clients.
    #[must_use]
    pub const fn telemetry() -> Self {
        Self { connections: 32, backlog: 64, large_heads: KIB * KIB, large_answers: KIB * KIB, ..Self::service() }
    }

    /// Without bounds on kernel buffers.
    #[must_use]
    pub const fn unbounded() -> Self {
        Self { connections: 8192, buffers: None, write_stall: Duration::from_secs(300), ..Self::service() }
    }

    /// Maximum memory of the connections including kernel buffers, in bytes. `None` if the kernel sizes its buffers
    /// itself.
    #[must_use]
    pub const fn worst_case_bytes(&self) -> Option<usize> {
        let Some(Buffers { receive, send }) = self.buffers else { return None };
        let connections = (self.connections + MAX_CLOSING) * (2 * receive + 2 * send + OTHER_BYTES);
        let waiting = self.backlog as usize * 2 * receive;
        Some(connections + waiting + self.large_heads + self.large_answers)
    }

    /// Requested size of a larger send buffer, and its memory beyond the usual one; both in bytes.
    pub(super) fn larger_send_buffer(&self) -> Option<(usize, u32)> {
        let more = LARGE_SEND_BUFFER.checked_sub(self.buffers?.send)?;
        u32::try_from(2 * more).ok().map(|memory| (LARGE_SEND_BUFFER, memory))
    }

    /// Options of a listener within these bounds.
    #[must_use]
    pub fn listen_options(&self) -> ListenOptions {
        ListenOptions {
            backlog: Some(self.backlog),
            receive_buffer: self.buffers.map(|buffers| buffers.receive),
            send_buffer: self.buffers.map(|buffers| buffers.send),
            ..ListenOptions::default()
        }
    }
}

impl Default for ServeLimits {
    /// [`ServeLimits::unbounded`].
    fn default() -> Self {
        Self::unbounded()
    }
}
