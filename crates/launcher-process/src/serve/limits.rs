//! Bounds on the memory that the connections of one listener can hold.

use std::time::Duration;

use crate::listener::ListenOptions;

const KIB: usize = 1024;

/// Default maximum number of concurrent connections of a listener.
pub const DEFAULT_CONNECTIONS: usize = 1024;
/// Maximum number of closing connections, whose task is aborted but still holds its memory.
pub(super) const MAX_CLOSING: usize = 32;

/// Bounds on the connections of a listener. [`ServeLimits::worst_case_bytes`] computes the memory that they allow.
#[derive(Debug, Clone)]
pub struct ServeLimits {
    /// Maximum number of connections. At the limit, a new connection replaces the connection that has made no progress
    /// for the longest time. If all connections make progress, the new one waits.
    pub connections: usize,
    /// Length of the accept queue: maximum number of connections that wait to be accepted.
    pub backlog: u32,
    /// Kernel buffers of a connection.
    pub buffers: Buffers,
    /// Memory budget for request heads, in bytes, shared by all connections. The first 8 KiB of a head do not count.
    pub large_heads: usize,
    /// Memory budget for larger send buffers, in bytes, shared by all connections. A large answer needs such a buffer.
    pub large_answers: usize,
    /// Maximum time in which a client reads no byte of its answer. Afterwards the connection is closed.
    pub write_stall: Duration,
}

/// Requested sizes of a connection's kernel buffers, in bytes. Linux reserves twice these sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Receive buffer (SO_RCVBUF).
    pub receive: usize,
    /// Send buffer (SO_SNDBUF).
    pub send: usize,
}

/// Memory of a connection outside its kernel buffers, in bytes: hyper's read buffer (16 KiB) and head buffer (8 KiB), a
/// small answer (8 KiB), the state of the connection and its request (8 KiB), and rounding by the kernel (4 KiB).
const OTHER_BYTES: usize = 44 * KIB;

/// Requested send buffer of a connection with a large answer, in bytes. On the loopback interface, segments have up to
/// 64 KiB. With a send buffer below 48 KiB, each segment would wait 40 ms for a delayed acknowledgement.
const LARGE_SEND_BUFFER: usize = 64 * KIB;

impl ServeLimits {
    /// Bounds for the listener of a process with a memory limit.
    #[must_use]
    pub const fn service() -> Self {
        Self {
            connections: DEFAULT_CONNECTIONS,
            // Sized for a burst: while this queue is full, the kernel drops connections, and clients retry after 1 s.
            backlog: 1536,
            buffers: Buffers { receive: 8 * KIB, send: 16 * KIB },
            large_heads: 20 * KIB * KIB,
            large_answers: 16 * KIB * KIB,
            write_stall: Duration::from_secs(30),
        }
    }

    /// Bounds for the listener of health probes and metrics, which has few clients.
    #[must_use]
    pub const fn telemetry() -> Self {
        Self { connections: 32, backlog: 64, large_heads: KIB * KIB, large_answers: KIB * KIB, ..Self::service() }
    }

    /// Returns the maximum memory of all connections with their kernel buffers, in bytes.
    #[must_use]
    pub const fn worst_case_bytes(&self) -> usize {
        let Buffers { receive, send } = self.buffers;
        let connections = (self.connections + MAX_CLOSING) * (2 * receive + 2 * send + OTHER_BYTES);
        let waiting = self.backlog as usize * 2 * receive;
        connections + waiting + self.large_heads + self.large_answers
    }

    /// Returns the requested size of a larger send buffer, and the additional memory that it needs, both in bytes.
    /// `None` if the send buffer is already larger.
    pub(super) fn larger_send_buffer(&self) -> Option<(usize, u32)> {
        let more = LARGE_SEND_BUFFER.checked_sub(self.buffers.send)?;
        u32::try_from(2 * more).ok().map(|memory| (LARGE_SEND_BUFFER, memory))
    }

    /// Returns the options for a listener within these bounds.
    #[must_use]
    pub fn listen_options(&self) -> ListenOptions {
        ListenOptions {
            backlog: Some(self.backlog),
            receive_buffer: Some(self.buffers.receive),
            send_buffer: Some(self.buffers.send),
            ..ListenOptions::default()
        }
    }
}
