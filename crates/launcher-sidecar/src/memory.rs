//! Upper bound of the sidecar's memory.
//!
//! Under cgroup v2, a container's memory limit covers the memory of its processes and the kernel buffers of its
//! sockets. This module defines the sizes of all buffers. A test asserts that [`WORST_CASE`] is below the memory limit
//! that the fleets set for the sidecar's container.

use launcher_process::serve::Buffers;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Maximum concurrent connections, including WebSockets. A browser opens six connections, and one WebSocket per open
/// notebook or terminal. A proxy in front opens one connection per in-flight request. One user stays far below this
/// limit.
pub(crate) const MAX_CONNECTIONS: usize = 264;
/// Maximum number of concurrent event streams of the frame page. Each occupies one of [`MAX_CONNECTIONS`], and at most one
/// connection to the app. A browser has at most six connections to a workshop without HTTP/2: the streams of its windows must
/// leave some to the app.
pub(crate) const FRAME_STREAMS: usize = 4;
/// Length of the accept queue, sized for a burst. The kernel drops further connections, and their clients retry after a
/// second.
pub(crate) const BACKLOG: u32 = 512;
/// Full buffers, for the first [`FULL_CONNECTIONS`] connections. They hold two segments of the loopback device in each
/// direction. With smaller buffers, transfers over that device wait for delayed acknowledgements.
///
/// Connections in the accept queue also have full buffers: the receive buffer at the TCP handshake limits the TCP
/// window permanently, and so the rate of an upload.
pub(crate) const FULL: Buffers = Buffers { receive: 64 * KIB, send: 64 * KIB };
/// Maximum number of client connections with full buffers. The same limit applies separately to the connections to the
/// app.
pub(crate) const FULL_CONNECTIONS: usize = 64;
/// Lean buffers, for all connections beyond the first [`FULL_CONNECTIONS`].
pub(crate) const LEAN: Buffers = Buffers { receive: 32 * KIB, send: 32 * KIB };
/// Kernel buffers during a bulk transfer: `receive` applies to the source socket, `send` to the destination socket. The
/// kernel limits them to `net.core.rmem_max` and `net.core.wmem_max`.
pub(crate) const BULK: Buffers = Buffers { receive: 2 * MIB, send: 2 * MIB };
/// Maximum number of concurrent bulk transfers. Further large transfers keep their normal buffers.
pub(crate) const BULK_TRANSFERS: usize = 4;
/// Number of relayed bytes after which a request or response counts as a bulk transfer.
pub(crate) const BULK_AFTER: usize = 128 * KIB;
/// Maximum bytes per read. While the receiver of a body does not read, the sidecar also buffers at most this many
/// bytes.
pub(crate) const READ: usize = 48 * KIB;
/// Maximum bytes of a head, and of the bytes read after a request while its response is pending.
pub(crate) const HEAD: usize = 64 * KIB;
/// Maximum number of concurrent telemetry connections. The limit applies separately to peers on this host and to peers
/// on other hosts.
pub(crate) const TELEMETRY_CONNECTIONS: usize = 32;
/// Length of the telemetry accept queue.
pub(crate) const TELEMETRY_BACKLOG: u32 = 128;
/// Kernel receive and send buffer of a telemetry connection, in bytes.
pub(crate) const TELEMETRY_BUFFER: usize = 8 * KIB;
/// Maximum bytes of a telemetry request's head.
pub(crate) const TELEMETRY_HEAD: usize = 8 * KIB;

/// Returns the bytes that the kernel reserves for a buffer of the requested `size`. The kernel doubles the size to have
/// room for its bookkeeping.
const fn accounted(size: usize) -> usize {
    2 * size
}

/// Largest segment in a send queue, including the kernel's bookkeeping, in bytes. The kernel may exceed the send buffer by
/// one segment.
const SEGMENT: usize = 68 * KIB;
/// Memory for the socket, the file and the task of one connection, in bytes.
const OBJECTS: usize = 8 * KIB;
/// Size of a user-space buffer, in bytes. It holds a head or the bytes of one read. A rewritten head may be slightly
/// longer than the received head.
const BUFFER: usize = HEAD + 2 * KIB;

/// Returns the memory of a socket whose buffers are filled in both directions, in bytes.
const fn socket(buffers: Buffers) -> usize {
    accounted(buffers.receive) + accounted(buffers.send) + SEGMENT + OBJECTS
}

/// Memory of a client connection with lean buffers, in bytes. Before the sidecar accepts the connection, the client may
/// have filled a receive buffer of the size in [`FULL`].
const LEAN_CLIENT: usize = socket(Buffers { receive: FULL.receive, send: LEAN.send });

/// Memory of all client connections and all connections to the app, in bytes. Each client needs four user-space
/// buffers: for input and output, towards the client and towards the app.
const CONNECTIONS: usize = FULL_CONNECTIONS * 2 * socket(FULL)
    + (MAX_CONNECTIONS - FULL_CONNECTIONS) * (LEAN_CLIENT + socket(LEAN))
    + MAX_CONNECTIONS * 4 * BUFFER;
/// Memory that a bulk transfer needs in addition to the lean buffers of its two sockets, in bytes.
const TRANSFER: usize = accounted(BULK.receive - LEAN.receive) + accounted(BULK.send - LEAN.send);
/// Memory of a telemetry connection, in bytes. Its response has a few KiB and fits into its send buffer.
const TELEMETRY: usize = 2 * accounted(TELEMETRY_BUFFER) + TELEMETRY_HEAD + OBJECTS;
/// Memory of the program without connections (code, runtime, allocator), in bytes.
const PROGRAM: usize = 10 * MIB;

/// Maximum memory of the process and its sockets, in bytes. Connections in the accept queue do not count: the kernel
/// charges a connection to the cgroup only when the process accepts it (`inet_csk_accept` in the kernel).
pub const WORST_CASE: usize = PROGRAM + CONNECTIONS + BULK_TRANSFERS * TRANSFER + 2 * TELEMETRY_CONNECTIONS * TELEMETRY;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_case_memory_is_below_sidecar_container_limit() {
        let limits = include_str!("../../launcher-workshop/src/app/sidecar.rs");
        assert_is_below_limit(limits, "SIDECAR_LIMITS: [&str; 2] = [\"1\", \"");
        let values = include_str!("../../../charts/workshop-launcher/values.yaml");
        let notice = values.split("\nnotice:\n").nth(1).unwrap();
        assert_is_below_limit(notice, "limits: {memory: ");
    }

    /// Asserts that the worst case is below the limit that follows `words` in `text`.
    fn assert_is_below_limit(text: &str, words: &str) {
        let limit = text.split(words).nth(1).unwrap();
        let limit: usize = limit.split("Mi").next().unwrap().parse().unwrap();
        assert!(WORST_CASE < limit * MIB, "{} of {limit} MiB", WORST_CASE / MIB);
    }
}
