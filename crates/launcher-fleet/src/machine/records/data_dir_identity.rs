//! Identity of a data directory. It detects a copied directory: the copy has the Workshops of the original, but must
//! not touch the original's workloads.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use jiff::Timestamp;
use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use serde::{Deserialize, Serialize};

use super::files::replace_file;
use super::layout::Layout;
use super::record::Record;
use super::store::save;

/// Location of a data directory at its last use: inode and birth time of its lock file. A move within the file system
/// keeps both. A copy has another inode, or another birth time.
///
/// The device number may change with each start of the machine. It is compared only if the birth time is unknown: on a
/// file system without birth times, or in a directory that only earlier launcher versions used.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataDirIdentity {
    device: u64,
    inode: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    born: Option<Timestamp>,
    /// Identifier of the workloads that were started from this directory.
    id: String,
}

/// Returns the identifier of the workloads that are started from this directory: the fleet's identity, or a new
/// identifier in a copy. In a copy, it also calls `forget` for each record, because the workloads belong to the original.
///
/// # Errors
/// A file cannot be read or written. The next call still detects the copy.
pub(crate) fn resolve<P: Serialize>(
    layout: &Layout,
    lock: &File,
    fleet_id: &str,
    records: &mut [(String, Record<P>)],
    forget: impl Fn(&mut Record<P>),
    clock: &dyn Clock,
) -> io::Result<String> {
    let metadata = lock.metadata()?;
    let born = metadata.created().ok().and_then(|born| Timestamp::try_from(born).ok());
    let (device, inode) = (metadata.dev(), metadata.ino());
    let id = match read(layout)? {
        Some(last) if last.is_at(device, inode, born) => {
            if (last.device, last.born) == (device, born) {
                return Ok(last.id);
            }
            last.id
        }
        Some(_) => {
            tracing::warn!(
                "data directory was copied or moved to another file system, restarting its workshops and leaving the \
                 original's workloads running"
            );
            for (name, record) in records {
                forget(record);
                save(layout, name, record).map_err(io::Error::other)?;
            }
            uuid_v7(clock, &SystemEntropy).to_string()
        }
        // The directory is new, or only earlier launcher versions used it, which stored no identity.
        None => fleet_id.to_owned(),
    };
    let identity = DataDirIdentity { device, inode, born, id };
    replace_file(&layout.data_dir_identity(), &serde_json::to_vec_pretty(&identity)?)?;
    Ok(identity.id)
}

impl DataDirIdentity {
    fn is_at(&self, device: u64, inode: u64, born: Option<Timestamp>) -> bool {
        self.inode == inode
            && match (self.born, born) {
                (Some(last), Some(born)) => last == born,
                _ => self.device == device,
            }
    }
}

fn read(layout: &Layout) -> io::Result<Option<DataDirIdentity>> {
    match fs::read(layout.data_dir_identity()) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
