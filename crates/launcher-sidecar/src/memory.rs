//! Upper bound of the sidecar's memory.
//!
//! A container's memory limit counts user space and, under cgroup v2, the kernel buffers of its sockets. Each of them has a
//! size here, and a test holds [`WORST_CASE`] below the limit that the operator gives the container.

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Connections served at a time, WebSockets included. A browser keeps six connections to a host and one WebSocket for each
/// open notebook or terminal; a proxy in front keeps as many as it has requests in flight. One person's use stays far below.
pub(crate) const PLACES: usize = 264;
/// Connections that wait to be accepted: as many as may come at once. The kernel drops more, and they try again after a
/// second.
pub(crate) const BACKLOG: u32 = 512;
/// Kernel receive buffer of a connection that waits to be accepted.
pub(crate) const WAITING_BUFFER: usize = 16 * KIB;
/// Sizes of a socket's kernel buffers, in bytes. The kernel exceeds the one to send by a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffers {
    pub(crate) receive: usize,
    pub(crate) send: usize,
}

/// The first connections: two segments of the loopback device in each direction. With less, transfers on it wait for
/// delayed acknowledgements.
pub(crate) const FULL: Buffers = Buffers { receive: 64 * KIB, send: 64 * KIB };
/// Clients' connections with full buffers, and as many connections to the app.
pub(crate) const FULL_CONNECTIONS: usize = 64;
/// Further connections.
pub(crate) const LEAN: Buffers = Buffers { receive: 32 * KIB, send: 32 * KIB };
/// In the direction of a bulk transfer. The kernel caps it at `net.core.rmem_max` and `net.core.wmem_max`.
pub(crate) const BULK: Buffers = Buffers { receive: 2 * MIB, send: 2 * MIB };
/// Bulk transfers at a time. Further ones go on with the buffers they have.
pub(crate) const BULK_TRANSFERS: usize = 4;
/// A direction that has moved this many bytes of one message is a bulk transfer.
pub(crate) const BULK_AFTER: usize = 128 * KIB;
/// Bytes read at once, and so kept at most of a body that its receiver does not take.
pub(crate) const READ: usize = 48 * KIB;
/// Maximum bytes of a head, and of what is read ahead after a request.
pub(crate) const HEAD: usize = 64 * KIB;
/// Telemetry connections answered at a time, from elsewhere and again from this host.
pub(crate) const TELEMETRY_CONNECTIONS: usize = 32;
/// Telemetry connections that wait to be accepted.
pub(crate) const TELEMETRY_BACKLOG: u32 = 128;
/// Kernel receive and send buffer of a telemetry connection.
pub(crate) const TELEMETRY_BUFFER: usize = 8 * KIB;
/// Maximum bytes of a telemetry request's head.
pub(crate) const TELEMETRY_HEAD: usize = 8 * KIB;

/// What the kernel accounts for a buffer that was set to `size`: it doubles it, to have room for its own bookkeeping.
const fn accounted(size: usize) -> usize {
    2 * size
}

/// Largest segment of a send queue, with its bookkeeping.
const SEGMENT: usize = 68 * KIB;
/// Socket, file and task of one connection.
const OBJECTS: usize = 8 * KIB;
/// A head, or a read, that was translated: slightly longer than what came.
const BUFFER: usize = HEAD + 2 * KIB;

/// A socket whose buffers are full in both directions.
const fn socket(buffers: Buffers) -> usize {
    accounted(buffers.receive) + accounted(buffers.send) + SEGMENT + OBJECTS
}

/// All connections of clients, all connections to the app, and for each client the four buffers of user space: what came
/// and what is to be sent, on either side.
const CONNECTIONS: usize =
    FULL_CONNECTIONS * 2 * socket(FULL) + (PLACES - FULL_CONNECTIONS) * 2 * socket(LEAN) + PLACES * 4 * BUFFER;
/// What a bulk transfer adds to what its two sockets have at least.
const TRANSFER: usize = accounted(BULK.receive - LEAN.receive) + accounted(BULK.send - LEAN.send);
/// A telemetry connection. Its answer is a few KiB and fits into its send buffer.
const TELEMETRY: usize = 2 * accounted(TELEMETRY_BUFFER) + TELEMETRY_HEAD + OBJECTS;
/// The program itself: code, runtime, allocator.
const PROGRAM: usize = 10 * MIB;

/// The most memory that the process and its sockets take, in bytes.
pub const WORST_CASE: usize = PROGRAM
    + CONNECTIONS
    + BULK_TRANSFERS * TRANSFER
    + BACKLOG as usize * accounted(WAITING_BUFFER)
    + 2 * TELEMETRY_CONNECTIONS * TELEMETRY
    + TELEMETRY_BACKLOG as usize * accounted(TELEMETRY_BUFFER);

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
