//! Identity of a data directory, to detect a copy. A copy has the Workshops of the original, but none of its processes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::state::{self, Record};

/// Where a data directory was last used: the device and inode of its lock file. A move within the file system keeps
/// them, and a copy has others.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataDirIdentity {
    device: u64,
    inode: u64,
    /// Identifies the processes that were started here.
    id: String,
}

/// Returns the identifier of processes started in this directory: the fleet's identity, or in a copy a new identifier.
/// In a copy, the recorded processes belong to the original and are removed from the records.
///
/// # Errors
/// A file cannot be read or written. The next call still detects the copy.
pub(super) fn resolve(
    layout: &Layout,
    lock: &File,
    fleet_id: &str,
    records: &mut [(String, Record)],
    clock: &dyn Clock,
) -> io::Result<String> {
    let here = lock.metadata()?;
    let id = match read(layout)? {
        Some(last) if (last.device, last.inode) == (here.dev(), here.ino()) => return Ok(last.id),
        Some(_) => {
            tracing::warn!(
                "data directory was copied, or moved to another file system: starting its workshops again, and leaving \
                 the processes of the original directory alone"
            );
            forget_processes(layout, records)?;
            uuid_v7(clock, &SystemEntropy).to_string()
        }
        // New, or used by a version that did not store this identity.
        None => fleet_id.to_owned(),
    };
    let identity = DataDirIdentity { device: here.dev(), inode: here.ino(), id };
    state::replace(&layout.data_dir_identity(), &serde_json::to_vec_pretty(&identity)?)?;
    Ok(identity.id)
}

fn read(layout: &Layout) -> io::Result<Option<DataDirIdentity>> {
    match fs::read(layout.data_dir_identity()) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn forget_processes(layout: &Layout, records: &mut [(String, Record)]) -> io::Result<()> {
    for (name, record) in records {
        record.process = None;
        state::save(layout, name, record).map_err(io::Error::other)?;
    }
    Ok(())
}
