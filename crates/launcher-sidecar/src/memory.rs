//! Upper bound of the sidecar's memory.
//!
//! A container's memory limit counts user space and, under cgroup v2, the kernel buffers of its sockets. This module
//! defines the size of each. A test asserts that [`WORST_CASE`] is below the container limit that the operator sets.

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Maximum concurrent connections, WebSockets included. A browser keeps six connections to a host and one WebSocket per
/// open notebook or terminal; a proxy in front keeps one per in-flight request. One person's use stays far below.
pub(crate) const MAX_CONNECTIONS: usize = 264;
/// Length of the accept queue, sized for a burst. The kernel drops further connections, and they retry after a second.
pub(crate) const BACKLOG: u32 = 512;
/// Sizes of a socket's kernel buffers, in bytes. The kernel exceeds the send buffer by one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffers {
    pub(crate) receive: usize,
    pub(crate) send: usize,
}

/// Buffers of the first connections: two segments of the loopback device in each direction. With smaller buffers,
/// transfers on it wait for delayed acknowledgements. Connections in the accept queue have the same: the receive buffer at
/// the handshake limits the TCP window for good, and so the rate of an upload.
pub(crate) const FULL: Buffers = Buffers { receive: 64 * KIB, send: 64 * KIB };
/// Number of client connections with full buffers, and of connections to the app with full buffers.
pub(crate) const FULL_CONNECTIONS: usize = 64;
/// Buffers of further connections.
pub(crate) const LEAN: Buffers = Buffers { receive: 32 * KIB, send: 32 * KIB };
/// Kernel buffers during a bulk transfer: `receive` of the source socket, `send` of the destination socket. The kernel
/// caps them at `net.core.rmem_max` and `net.core.wmem_max`.
pub(crate) const BULK: Buffers = Buffers { receive: 2 * MIB, send: 2 * MIB };
/// Maximum number of concurrent bulk transfers. Further ones keep their normal buffers.
pub(crate) const BULK_TRANSFERS: usize = 4;
/// Bytes of one message after which its direction counts as a bulk transfer.
pub(crate) const BULK_AFTER: usize = 128 * KIB;
/// Bytes per read, and so the maximum kept of a body that its receiver does not take.
pub(crate) const READ: usize = 48 * KIB;
/// Maximum bytes of a head, and of the read-ahead after a request.
pub(crate) const HEAD: usize = 64 * KIB;
/// Maximum number of concurrent telemetry connections, separately for other hosts and for this host.
pub(crate) const TELEMETRY_CONNECTIONS: usize = 32;
/// Length of the telemetry accept queue.
pub(crate) const TELEMETRY_BACKLOG: u32 = 128;
/// Kernel receive and send buffer of a telemetry connection, in bytes.
pub(crate) const TELEMETRY_BUFFER: usize = 8 * KIB;
/// Maximum bytes of a telemetry request's head.
pub(crate) const TELEMETRY_HEAD: usize = 8 * KIB;

/// Returns the bytes that the kernel accounts for a buffer set to `size`: it doubles the size for its own bookkeeping.
const fn accounted(size: usize) -> usize {
    2 * size
}

/// Largest segment of a send queue, with its bookkeeping, in bytes.
const SEGMENT: usize = 68 * KIB;
/// Socket, file and task of one connection, in bytes.
const OBJECTS: usize = 8 * KIB;
/// A translated head or read: slightly longer than its input.
const BUFFER: usize = HEAD + 2 * KIB;

/// Memory of a socket with full buffers in both directions.
const fn socket(buffers: Buffers) -> usize {
    accounted(buffers.receive) + accounted(buffers.send) + SEGMENT + OBJECTS
}

/// Memory of a lean client connection. It may have filled a full receive buffer before it was accepted.
const LEAN_CLIENT: usize = socket(Buffers { receive: FULL.receive, send: LEAN.send });

/// Memory of all client connections, all connections to the app, and four user-space buffers per client: input and
/// output on either side.
const CONNECTIONS: usize = FULL_CONNECTIONS * 2 * socket(FULL)
    + (MAX_CONNECTIONS - FULL_CONNECTIONS) * (LEAN_CLIENT + socket(LEAN))
    + MAX_CONNECTIONS * 4 * BUFFER;
/// Memory that a bulk transfer adds to the minimum of its two sockets.
const TRANSFER: usize = accounted(BULK.receive - LEAN.receive) + accounted(BULK.send - LEAN.send);
/// Memory of a telemetry connection. Its response is a few KiB and fits into its send buffer.
const TELEMETRY: usize = 2 * accounted(TELEMETRY_BUFFER) + TELEMETRY_HEAD + OBJECTS;
/// Memory of the program: code, runtime, allocator.
const PROGRAM: usize = 10 * MIB;

/// Maximum memory of the process and its sockets, in bytes. The accept queue is not part of it: the kernel charges a
/// connection to the cgroup when the process accepts it (`inet_csk_accept` in the kernel).
pub const WORST_CASE: usize = PROGRAM + CONNECTIONS + BULK_TRANSFERS * TRANSFER + 2 * TELEMETRY_CONNECTIONS * TELEMETRY;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_case_is_below_the_limit_of_the_container() {
        let limits = include_str!("../../launcher-operator/src/build/limits.rs");
        let limit = limits.split("SIDECAR_LIMITS: [&str; 2] = [\"1\", \"").nth(1).unwrap();
        let limit: usize = limit.split("Mi\"]").next().unwrap().parse().unwrap();
        assert!(WORST_CASE < limit * MIB, "{} of {limit} MiB", WORST_CASE / MIB);
    }
}
