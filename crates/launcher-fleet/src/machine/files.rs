//! The files of a data directory: their paths, and operations that are private, durable, and safe against links and
//! permissions that an app sets.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use launcher_domain::material_source::SECRETS_FOLDER;
use rustix::fs::{CWD, Mode, OFlags, openat};

/// Creates a directory and its missing parents, accessible only to the launcher's user.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory recursively, even if an app has removed the user's permissions in it. A missing directory is no
/// error.
pub(crate) fn remove_directory(path: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Ignore the error, for example of another user's directory: the next line then fails and returns an error.
            let _ = unlock(CWD, path.as_os_str());
            fs::remove_dir_all(path)
        }
        removed => removed,
    };
    if_exists(removed).map(drop)
}

/// Returns the outcome of an operation on a file or a directory; `None` if the file or the directory does not exist.
pub(super) fn if_exists<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Gives the launcher's user access to a directory and its subdirectories. Never follows a link.
fn unlock(parent: impl AsFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    // Use the descriptor and not the name: the app may have replaced the name by a link.
    let itself = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let mode = fs::metadata(&itself)?.permissions().mode();
    fs::set_permissions(&itself, Permissions::from_mode(mode | 0o700))?;
    for entry in fs::read_dir(&itself)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // Ignore the error, so that the other subdirectories are unlocked too.
            let _ = unlock(&directory, &entry.file_name());
        }
    }
    Ok(())
}

/// Creates a directory as [`make_private`] does, and takes the access of other users away from an existing one.
pub(super) fn ensure_private(path: &Path) -> io::Result<()> {
    make_private(path)?;
    let mode = fs::symlink_metadata(path)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    tracing::warn!(path = %path.display(), "directory was open to other users, restricting it to the launcher's user");
    fs::set_permissions(path, Permissions::from_mode(mode & 0o700))
}

/// Writes a file atomically and durably: after a crash, the file has the old or the new content. Replaces a link at the
/// name of the temporary file, and never writes to its target.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    if_exists(fs::remove_file(&new))?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Writes the entries of a directory to the disk, so that a rename or removal in it survives a crash.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The paths below the data directory.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    data_dir: PathBuf,
}

impl Layout {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned() }
    }

    pub(crate) fn fleet(&self) -> PathBuf {
        self.data_dir.join("fleet")
    }

    /// The lock file, which is locked while a fleet is open.
    pub(crate) fn lock(&self) -> PathBuf {
        self.data_dir.join("fleet/lock")
    }

    pub(crate) fn id(&self) -> PathBuf {
        self.data_dir.join("fleet/id")
    }

    pub(crate) fn data_dir_identity(&self) -> PathBuf {
        self.data_dir.join("fleet/place.json")
    }

    /// The seccomp profile, for a container engine that reads it from a file.
    pub(crate) fn seccomp(&self) -> PathBuf {
        self.data_dir.join("fleet/seccomp.json")
    }

    /// The directory with one state directory per Workshop.
    pub(crate) fn records(&self) -> PathBuf {
        self.data_dir.join("fleet/workshops")
    }

    /// The state directory of one Workshop.
    pub(crate) fn record(&self, name: &str) -> PathBuf {
        self.records().join(name)
    }

    /// The file with the record of one Workshop.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.record(name).join("state.json")
    }

    /// The directory with the sockets of a workshop's sidecar. Only the launcher and the sidecar have access.
    pub(crate) fn sidecar_sockets(&self, name: &str) -> PathBuf {
        self.record(name).join("run")
    }

    /// The directory with the files of a workshop's sidecar.
    pub(crate) fn sidecar_files(&self, name: &str) -> PathBuf {
        self.record(name).join("sidecar")
    }

    /// The directory with copies of the secrets of a workshop's course material, while a container loads the material.
    pub(crate) fn secret_copies(&self, name: &str) -> PathBuf {
        self.record(name).join(SECRETS_FOLDER)
    }

    /// The log file with the output of the app's processes.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.record(name).join("app.log")
    }

    /// The directory for the app's internal files: configuration, data, sockets.
    pub(crate) fn app(&self, name: &str) -> PathBuf {
        self.record(name).join("app")
    }

    /// The directory with one working directory per Workshop.
    pub(crate) fn workings(&self) -> PathBuf {
        self.data_dir.join("workshops")
    }

    /// The directory with one directory per volume.
    pub(crate) fn volumes(&self) -> PathBuf {
        self.data_dir.join("volumes")
    }

    /// The directory of one volume, with the kept files of its owner.
    pub(crate) fn volume(&self, volume: &str) -> PathBuf {
        self.volumes().join(volume)
    }

    /// The directory with one directory per secret of course material, which the administrator creates.
    pub(crate) fn material_secrets(&self) -> PathBuf {
        self.data_dir.join(SECRETS_FOLDER)
    }

    /// The working directory of the app's processes without a volume, with the owner's files.
    pub(crate) fn working(&self, name: &str) -> PathBuf {
        self.workings().join(name)
    }
}
