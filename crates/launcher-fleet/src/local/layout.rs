//! Paths of a fleet's files.

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

    /// The fleet's identity.
    pub(super) fn id(&self) -> PathBuf {
        self.data_dir.join("fleet/id")
    }

    /// Where the data directory was last used.
    pub(super) fn data_dir_identity(&self) -> PathBuf {
        self.data_dir.join("fleet/place.json")
    }

    /// One state directory per Workshop.
    pub(super) fn records(&self) -> PathBuf {
        self.data_dir.join("fleet/workshops")
    }

    /// State directory of one Workshop.
    pub(super) fn record(&self, name: &str) -> PathBuf {
        self.records().join(name)
    }

    /// The Workshop itself.
    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.record(name).join("state.json")
    }

    /// Output of its processes.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.record(name).join("app.log")
    }

    /// Its app's own files: configuration, data, sockets.
    pub(super) fn app(&self, name: &str) -> PathBuf {
        self.record(name).join("app")
    }

    /// The working directories.
    pub(super) fn workings(&self) -> PathBuf {
        self.data_dir.join("workshops")
    }

    /// Working directory of its processes, with its owner's files.
    pub(super) fn working(&self, name: &str) -> PathBuf {
        self.workings().join(name)
    }
}

/// Creates a directory and its parents, accessible only to this user.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory recursively, even if an app has removed its own user's permissions; a missing one is fine.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // If something cannot be unlocked, such as another user's directory, the second try returns the error.
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

/// Gives this user access to a directory and its subdirectories; never follows a link.
fn unlock(parent: impl AsFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    // By descriptor, because the name may point elsewhere by now.
    let itself = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let mode = fs::metadata(&itself)?.permissions().mode();
    fs::set_permissions(&itself, Permissions::from_mode(mode | 0o700))?;
    for entry in fs::read_dir(&itself)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // A failure must not prevent the others from being unlocked.
            let _ = unlock(&directory, &entry.file_name());
        }
    }
    Ok(())
}
