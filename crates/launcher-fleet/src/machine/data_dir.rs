//! The data directory of a fleet: its lock, its identity, and the stored Workshops. The identity detects a copied
//! directory: the copy has the Workshops of the original, but must not touch the original's workloads.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::files::{Layout, ensure_private, if_exists, replace_file};
use super::record::{Record, load_records, save_record};

const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Error of opening or examining a data directory.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    #[error("another launcher uses {0}: stop it, or set SERVICE_DATA_DIR to another directory")]
    Locked(PathBuf),
    #[error("the fleet cannot use {path}: {source}; make it readable and writable for this user")]
    Directory { path: PathBuf, source: io::Error },
}

impl DataDirError {
    /// Adds the path to the system's error.
    pub(crate) fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T, Self> {
        outcome.map_err(|source| Self::Directory { path: path.to_owned(), source })
    }
}

/// The data directory of an open fleet. At most one fleet has it open.
pub(crate) struct DataDir {
    pub(crate) layout: Layout,
    /// Identity of the fleet. The rows of the database belong to it.
    pub(crate) fleet_id: String,
    /// Identifier of this copy of the data directory. The fleet marks everything that it starts with this identifier, so
    /// that a copy of the directory never touches the workloads of the original.
    pub(crate) id: String,
    pub(crate) clock: Arc<dyn Clock>,
    /// Cancelled when the fleet begins to stop.
    pub(crate) closing: CancellationToken,
    /// The lock is held while this fleet is open. The kernel releases it when the program exits, even after a crash.
    _lock: File,
}

/// The stored Workshops of a data directory, with their names. No task supervises them yet.
type NotAdopted<P> = Vec<(String, Record<P>)>;

impl DataDir {
    /// Locks the data directory, and reads its Workshops. Creates missing directories and identities. In a copy of a data
    /// directory, calls `forget` for each record, because the workload of the record belongs to the original.
    pub(crate) fn open<P: Serialize + DeserializeOwned>(
        path: &Path,
        clock: Arc<dyn Clock>,
        forget: impl Fn(&mut Record<P>),
    ) -> Result<(Self, NotAdopted<P>), DataDirError> {
        let layout = Layout::new(path);
        for directory in [layout.fleet(), layout.records(), layout.workings(), layout.volumes()] {
            DataDirError::at(&directory, ensure_private(&directory))?;
        }
        let lock = take_lock(&layout)?;
        let fleet_id = fleet_identity(&layout, &*clock)?;
        let mut records = DataDirError::at(&layout.records(), load_records(&layout))?;
        let id = DataDirError::at(
            &layout.data_dir_identity(),
            resolve_identity(&layout, &lock, &fleet_id, &mut records, forget, &*clock),
        )?;
        let closing = CancellationToken::new();
        Ok((Self { layout, fleet_id, id, clock, closing, _lock: lock }, records))
    }
}

/// Returns the identity of the fleet, or `None` if no launcher has used the data directory yet.
pub(crate) fn stored_identity(layout: &Layout) -> Result<Option<String>, DataDirError> {
    let path = layout.id();
    let id = DataDirError::at(&path, if_exists(fs::read_to_string(&path)))?;
    Ok(id.map(|id| id.trim().to_owned()))
}

/// For `launcher doctor`: true if a launcher is using the data directory.
pub(crate) fn is_in_use(layout: &Layout) -> Result<bool, DataDirError> {
    let path = layout.lock();
    let Some(file) = DataDirError::at(&path, if_exists(File::open(&path)))? else { return Ok(false) };
    // This check holds the lock until it returns, which closes the file. A launcher that starts meanwhile retries its
    // own lock.
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => DataDirError::at(&path, Err(error.into())),
    }
}

fn take_lock(layout: &Layout) -> Result<File, DataDirError> {
    let path = layout.lock();
    let file = DataDirError::at(&path, OpenOptions::new().write(true).create(true).truncate(false).open(&path))?;
    for attempt in 1.. {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            // A killed launcher may leave a forked child that has not called exec yet. That child holds the lock until
            // exec: retry.
            Err(Errno::WOULDBLOCK) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => return Err(DataDirError::Locked(path)),
            Err(error) => return DataDirError::at(&path, Err(error.into())),
        }
    }
    Ok(file)
}

/// Reads the fleet's identity, or generates it if the data directory has none.
fn fleet_identity(layout: &Layout, clock: &dyn Clock) -> Result<String, DataDirError> {
    if let Some(id) = stored_identity(layout)?.filter(|id| !id.is_empty()) {
        return Ok(id);
    }
    let (path, id) = (layout.id(), uuid_v7(clock, &SystemEntropy).to_string());
    DataDirError::at(&path, replace_file(&path, id.as_bytes()))?;
    Ok(id)
}

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
fn resolve_identity<P: Serialize>(
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
    let last = if_exists(fs::read(layout.data_dir_identity()))?;
    let last: Option<DataDirIdentity> = last.map(|json| serde_json::from_slice(&json)).transpose()?;
    let id = match last {
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
                save_record(layout, name, record).map_err(io::Error::other)?;
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
