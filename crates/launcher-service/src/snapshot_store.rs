//! The object store of the snapshots, and their limits.

use std::time::Duration;

use launcher_fleet::STREAM_BYTES;
use launcher_snapshots::{ARCHIVE_BYTES, SnapshotStore};

use crate::downloads::COMPRESSION_BYTES;

/// Maximum snapshots that are saved at the same time.
pub(crate) const CONCURRENCY: usize = 4;
/// Maximum memory of all snapshots, in bytes. Each has the tar archive of the fleet, the compressed archive and an upload.
pub const SNAPSHOT_BYTES: usize = CONCURRENCY * (2 * STREAM_BYTES + COMPRESSION_BYTES + ARCHIVE_BYTES);

/// Object store of the snapshots, and their retention.
#[derive(Debug, Clone)]
pub struct Snapshots {
    /// Object store.
    pub store: SnapshotStore,
    /// Time after which a snapshot is deleted.
    pub retention: Duration,
}
