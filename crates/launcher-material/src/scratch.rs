//! Temporary files without a name: the kernel deletes them with the process, also after a kill.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fstatfs};

use crate::directory::Dir;
use crate::failure::Failure;

/// Magic number of tmpfs. Its files are memory, which belongs to the apps.
const TMPFS: u64 = 0x0102_1994;

/// Opens a temporary file: outside of the student's volume if there is a disk, else in this directory.
///
/// # Errors
/// Neither directory can have the file.
pub(crate) fn open(inside: &Dir) -> Result<File, Failure> {
    if let Some(file) = outside() {
        return Ok(file);
    }
    Ok(inside.unnamed_file()?)
}

fn outside() -> Option<File> {
    let directory = std::env::temp_dir();
    let file = tempfile::tempfile_in(directory).ok()?;
    let system = fstatfs(file.as_fd()).ok()?;
    (u64::try_from(system.f_type).ok()? != TMPFS).then_some(file)
}

/// Path of an open file, for libraries that open files by their path.
#[must_use]
pub(crate) fn path(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// Opens a second handle of an open file, with an own position.
///
/// # Errors
/// An error of the file system.
pub(crate) fn reopen(file: &File) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path(file), flags, rustix::fs::Mode::empty())?.into())
}
