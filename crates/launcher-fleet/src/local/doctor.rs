//! For `launcher doctor`: examines this machine and a data directory without changing them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use launcher_domain::AppType;
use launcher_domain::clock::SystemEntropy;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::ports::PortPool;
use super::records::Layout;
use super::settings::{LocalFleetError, LocalSettings};
use super::workload::{ProgramFault, check_program};

/// The examined local fleet.
#[derive(Debug)]
pub struct LocalExamination {
    settings: LocalSettings,
    layout: Layout,
}

impl LocalExamination {
    /// Examines the fleet that [`LocalFleet::open`](super::LocalFleet::open) would open with these settings.
    ///
    /// # Errors
    /// [`LocalFleetError`] if `LocalFleet::open` would refuse a setting.
    pub fn new(settings: LocalSettings) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.data_dir);
        Ok(Self { settings, layout })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    ///
    /// # Errors
    /// [`LocalFleetError::Directory`] if the identity file cannot be read.
    pub fn identity(&self) -> Result<Option<String>, LocalFleetError> {
        let path = self.layout.id();
        if_there(&path, fs::read_to_string(&path)).map(|id| id.map(|id| id.trim().to_owned()))
    }

    /// True if a launcher is using the data directory.
    ///
    /// # Errors
    /// [`LocalFleetError::Directory`] if the lock file cannot be opened or locked.
    pub fn is_in_use(&self) -> Result<bool, LocalFleetError> {
        let path = self.layout.lock();
        let Some(file) = if_there(&path, File::open(&path))? else { return Ok(false) };
        // This check holds the lock until it returns, which closes the file. A launcher that starts meanwhile retries
        // its own lock.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(LocalFleetError::Directory { path, source: error.into() }),
        }
    }

    /// A port that the next workshop could get; `None` if all are taken.
    #[must_use]
    pub fn free_port(&self) -> Option<u16> {
        Some(PortPool::of_this_machine().allocate(&SystemEntropy)?.port())
    }

    /// Runs the program of this app type with its version argument, and returns the output. `None` for `custom`,
    /// because each template of that type names a program.
    ///
    /// # Errors
    /// [`ProgramFault`] if the program is missing or fails.
    pub async fn version(&self, app: AppType) -> Result<Option<String>, ProgramFault> {
        check_program(&self.settings, app).await
    }
}

fn if_there<T>(path: &Path, outcome: io::Result<T>) -> Result<Option<T>, LocalFleetError> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LocalFleetError::Directory { path: path.to_owned(), source }),
    }
}
