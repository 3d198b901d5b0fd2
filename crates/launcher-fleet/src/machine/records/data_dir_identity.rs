//! Identity of a data directory. It detects a copied directory: the copy has the Workshops of the original, but must
//! not touch the original's processes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use serde::{Deserialize, Serialize};

use super::files::replace_file;
use super::layout::Layout;
use super::record::Record;
use super::store::save;

/// Location of a data directory at its last use: the device and inode of its lock file. A move within the file system
/// keeps both. A copy has a different inode.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataDirIdentity {
    device: u64,
    inode: u64,
    /// Identifier of the processes that were started from this directory.
    id: String,
}

/// Returns the identifier of the processes that are started from this directory: the fleet's identity, or a new
/// identifier in a copy. In a copy, it also removes the processes from the records, because they belong to the
/// original.
///
/// # Errors
/// A file cannot be read or written. The next call still detects the copy.
pub(crate) fn resolve<P: Serialize>(
    layout: &Layout,
    lock: &File,
    fleet_id: &str,
    records: &mut [(String, Record<P>)],
    clock: &dyn Clock,
) -> io::Result<String> {
    let here = lock.metadata()?;
    let id = match read(layout)? {
        Some(last) if (last.device, last.inode) == (here.dev(), here.ino()) => return Ok(last.id),
        Some(_) => {
            tracing::warn!(
                "data directory was copied or moved to another file system, restarting its workshops and leaving the \
                 original's processes running"
            );
            forget_processes(layout, records)?;
            uuid_v7(clock, &SystemEntropy).to_string()
        }
        // The directory is new, or only earlier launcher versions used it, which stored no identity.
        None => fleet_id.to_owned(),
    };
    let identity = DataDirIdentity { device: here.dev(), inode: here.ino(), id };
    replace_file(&layout.data_dir_identity(), &serde_json::to_vec_pretty(&identity)?)?;
    Ok(identity.id)
}

fn read(layout: &Layout) -> io::Result<Option<DataDirIdentity>> {
    match fs::read(layout.data_dir_identity()) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn forget_processes<P: Serialize>(layout: &Layout, records: &mut [(String, Record<P>)]) -> io::Result<()> {
    for (name, record) in records {
        record.process = None;
        save(layout, name, record).map_err(io::Error::other)?;
    }
    Ok(())
}
