//! The data directory of a fleet: its lock, its identity, and the stored Workshops.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::records::{Layout, Record, data_dir_identity, make_private, replace_file, store};

/// Maximum number of attempts to lock the data directory.
const LOCK_ATTEMPTS: u32 = 20;
/// Pause between two attempts to lock the data directory.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Error of opening or examining a data directory.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Another launcher uses the same data directory.
    #[error("another launcher uses {0}: stop it, or set SERVICE_DATA_DIR to another directory")]
    Locked(PathBuf),
    /// A file or directory of the fleet is unusable.
    #[error("the fleet cannot use {path}: {source}; make it readable and writable for this user")]
    Directory {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl DataDirError {
    /// Adds the path to the system's error.
    pub(crate) fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T, Self> {
        outcome.map_err(|source| Self::Directory { path: path.to_owned(), source })
    }
}

/// The data directory of an open fleet. At most one fleet has it open.
#[derive(Debug)]
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
pub(crate) type NotAdopted<P> = Vec<(String, Record<P>)>;

impl DataDir {
    /// Locks the data directory, and reads its Workshops. Creates missing directories and identities. In a copy of a data
    /// directory, calls `forget` for each record, because the workload of the record belongs to the original.
    ///
    /// # Errors
    /// [`DataDirError`] if another launcher uses the directory, or the directory is unusable.
    pub(crate) fn open<P: Serialize + DeserializeOwned>(
        path: &Path,
        clock: Arc<dyn Clock>,
        forget: impl Fn(&mut Record<P>),
    ) -> Result<(Self, NotAdopted<P>), DataDirError> {
        let layout = Layout::new(path);
        for directory in [layout.records(), layout.workings()] {
            DataDirError::at(&directory, make_private(&directory))?;
        }
        let lock = take_lock(&layout)?;
        let fleet_id = identity(&layout, &*clock)?;
        let mut records = DataDirError::at(&layout.records(), store::load(&layout))?;
        let id = DataDirError::at(
            &layout.data_dir_identity(),
            data_dir_identity::resolve(&layout, &lock, &fleet_id, &mut records, forget, &*clock),
        )?;
        let closing = CancellationToken::new();
        Ok((Self { layout, fleet_id, id, clock, closing, _lock: lock }, records))
    }
}

/// For `launcher doctor`: returns the identity of the fleet, or `None` if no launcher has used the data directory yet.
pub(crate) fn stored_identity(layout: &Layout) -> Result<Option<String>, DataDirError> {
    let path = layout.id();
    if_there(&path, fs::read_to_string(&path)).map(|id| id.map(|id| id.trim().to_owned()))
}

/// For `launcher doctor`: true if a launcher is using the data directory.
pub(crate) fn is_in_use(layout: &Layout) -> Result<bool, DataDirError> {
    let path = layout.lock();
    let Some(file) = if_there(&path, File::open(&path))? else { return Ok(false) };
    // This check holds the lock until it returns, which closes the file. A launcher that starts meanwhile retries its
    // own lock.
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => DataDirError::at(&path, Err(error.into())),
    }
}

fn if_there<T>(path: &Path, outcome: io::Result<T>) -> Result<Option<T>, DataDirError> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => DataDirError::at(path, outcome).map(Some),
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
fn identity(layout: &Layout, clock: &dyn Clock) -> Result<String, DataDirError> {
    let path = layout.id();
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => DataDirError::at(&path, Err(error)),
        _ => {
            let id = uuid_v7(clock, &SystemEntropy).to_string();
            DataDirError::at(&path, replace_file(&path, id.as_bytes()))?;
            Ok(id)
        }
    }
}
