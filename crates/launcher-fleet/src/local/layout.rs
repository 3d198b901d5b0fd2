//! Where a fleet keeps its files.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The paths below the data directory.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    data_dir: PathBuf,
}

impl Layout {
    pub(super) fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    /// Locked while a fleet is open.
    pub(super) fn lock(&self) -> PathBuf {
        self.data_dir.join("fleet/lock")
    }

    /// Holds the fleet's identity.
    pub(super) fn id(&self) -> PathBuf {
        self.data_dir.join("fleet/id")
    }

    /// Holds one directory per Workshop, for what the fleet knows of it.
    pub(super) fn records(&self) -> PathBuf {
        self.data_dir.join("fleet/workshops")
    }

    /// What the fleet knows of one Workshop.
    pub(super) fn record(&self, name: &str) -> PathBuf {
        self.records().join(name)
    }

    /// The Workshop itself.
    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.record(name).join("state.json")
    }

    /// What its processes print.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.record(name).join("app.log")
    }

    /// What its app keeps for itself: configuration, data, sockets.
    pub(super) fn app(&self, name: &str) -> PathBuf {
        self.record(name).join("app")
    }

    /// Holds the working directories.
    pub(super) fn workings(&self) -> PathBuf {
        self.data_dir.join("workshops")
    }

    /// Where its processes start, and where its owner's files are.
    pub(super) fn working(&self, name: &str) -> PathBuf {
        self.workings().join(name)
    }
}

/// Makes a directory, and those above it, for this user alone.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory with all it holds; none is fine.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
