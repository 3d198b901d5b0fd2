//! Free space of a volume. A source that would fill the volume fails before its first change: an app cannot save the work
//! of the student on a full volume.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fstatfs};

use crate::directory::Dir;
use crate::failure::Failure;
use crate::limits::{Limits, size};

/// Minimum of the space that stays free.
const RESERVE_BYTES: u64 = 64 << 20;
/// Maximum of the space that stays free. 5 % of a server's large disk are more than workshops need.
const MAX_RESERVE_BYTES: u64 = 1 << 30;
/// Bytes between two looks at the free space.
const STEP_BYTES: u64 = 16 << 20;

/// Checks that a source may add these bytes to the volume of a directory or file.
///
/// # Errors
/// The volume does not have enough free space.
pub(crate) fn check(volume: impl AsFd, bytes: u64, limits: &Limits) -> Result<(), Failure> {
    if bytes == 0 {
        return Ok(());
    }
    // If the file system does not report its free space, a write fails when the volume is full.
    let Ok(stat) = rustix::fs::fstatvfs(volume) else { return Ok(()) };
    let (total, free) = (stat.f_blocks.saturating_mul(stat.f_frsize), stat.f_bavail.saturating_mul(stat.f_frsize));
    let most = free.saturating_sub(reserve(total)).min(limits.added_bytes);
    if bytes <= most {
        return Ok(());
    }
    Err(Failure::new(format!(
        "The source needs {} of disk space, and may use {}: delete files, or ask for more storage.",
        rounded(bytes),
        rounded(most)
    )))
}

/// Returns the bytes of a volume of this size that stay free.
fn reserve(total: u64) -> u64 {
    (total / 20).clamp(RESERVE_BYTES, MAX_RESERVE_BYTES).min(total / 2)
}

/// Returns a number of bytes as people write it, rounded up.
fn rounded(bytes: u64) -> String {
    if bytes < 1 << 20 { size(bytes) } else { format!("{} MiB", bytes.div_ceil(1 << 20)) }
}

/// Space of a file that grows.
#[derive(Debug)]
pub(crate) struct Growth<'a> {
    file: &'a File,
    limits: &'a Limits,
    written: u64,
    /// Bytes that may be written until the next look.
    unchecked: u64,
}

impl<'a> Growth<'a> {
    /// Watches a file that has no content yet.
    pub(crate) fn new(file: &'a File, limits: &'a Limits) -> Self {
        Self { file, limits, written: 0, unchecked: 0 }
    }

    /// Checks that these bytes can be written, too.
    ///
    /// # Errors
    /// The volume does not have enough free space.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Failure> {
        let bytes = bytes as u64;
        self.written = self.written.saturating_add(bytes);
        if self.written > self.limits.added_bytes {
            return check(self.file, self.written, self.limits);
        }
        if self.unchecked < bytes {
            self.unchecked = STEP_BYTES.max(bytes);
            check(self.file, bytes, self.limits)?;
        }
        self.unchecked -= bytes;
        Ok(())
    }
}

/// Magic number of tmpfs. Its files are memory, which belongs to the apps.
const TMPFS: u64 = 0x0102_1994;

/// Opens a temporary file without a name: the kernel deletes it with the process, also after a kill. It is outside of the student's volume if there is a disk, else in this directory.
///
/// # Errors
/// Neither directory can have the file.
pub(crate) fn temporary_file(inside: &Dir) -> Result<File, Failure> {
    match outside_volume() {
        Some(file) => Ok(file),
        None => Ok(inside.unnamed_file()?),
    }
}

fn outside_volume() -> Option<File> {
    let directory = std::env::temp_dir();
    let file = tempfile::tempfile_in(directory).ok()?;
    let system = fstatfs(file.as_fd()).ok()?;
    (u64::try_from(system.f_type).ok()? != TMPFS).then_some(file)
}

/// Path of an open file, for libraries that open files by their path.
#[must_use]
pub(crate) fn path_of(file: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(file.as_raw_fd().to_string())
}

/// Opens a second handle of an open file, with an own position.
pub(crate) fn reopen(file: &File) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path_of(file), flags, rustix::fs::Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserve_is_a_part_of_the_volume_within_limits_and_at_most_half_of_a_small_one() {
        for (total, expected) in
            [(1 << 40, 1 << 30), (10 << 30, 512 << 20), (1 << 30, 64 << 20), (100 << 20, 50 << 20), (0, 0)]
        {
            assert_eq!(reserve(total), expected, "{total}");
        }
    }

    #[test]
    fn volume_without_enough_space_is_refused() {
        let (file, limits) = (tempfile::tempfile().unwrap(), Limits::default());
        check(&file, 1, &limits).unwrap();
        let failure = check(&file, 1 << 60, &limits).unwrap_err().to_string();
        assert!(failure.starts_with("The source needs 1099511627776 MiB of disk space"), "{failure}");
        let mut growth = Growth::new(&file, &limits);
        growth.add(100).unwrap();
        assert!(growth.add(1 << 60).is_err());
    }
}
