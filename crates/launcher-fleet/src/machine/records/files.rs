//! File operations for the data directory: private, durable, and safe against links and permissions that an app sets.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

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
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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

/// Writes a file atomically and durably: after a crash, the file has the old or the new content.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Writes the entries of a directory to the disk, so that a rename or removal in it survives a crash.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
