//! Where a fleet keeps its files.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

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

    /// Holds where the data directory was used last.
    pub(super) fn place(&self) -> PathBuf {
        self.data_dir.join("fleet/place.json")
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

/// Removes a directory with all it holds, also what an app has locked away from its own user; none is fine.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // What cannot be unlocked, as another user's directory, the second try tells of.
            let _ = unlock(CWD, path.as_os_str());
            fs::remove_dir_all(path)
        }
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Lets this user into a directory and into all below it, never through a link.
fn unlock(parent: impl AsFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    // Not by its name, which may lead elsewhere by now.
    let itself = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let mode = fs::metadata(&itself)?.permissions().mode();
    fs::set_permissions(&itself, Permissions::from_mode(mode | 0o700))?;
    for entry in fs::read_dir(&itself)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // One that stays locked keeps no other from being unlocked.
            let _ = unlock(&directory, &entry.file_name());
        }
    }
    Ok(())
}
