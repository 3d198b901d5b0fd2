//! A folder as object store.

use std::path::Path;
use std::{fs, io};

use object_store::local::LocalFileSystem;

use crate::error::StoreError;

/// Bytes of the disk that stay free: the database may be on the same one.
const RESERVE_BYTES: u64 = 1 << 30;

/// Opens the folder. Creates it if it is missing, for this user alone. Deletes unfinished uploads. Only one launcher
/// uses a folder, so these uploads are from an earlier process of this launcher, which was killed.
pub(crate) fn open(folder: &Path) -> Result<LocalFileSystem, StoreError> {
    let failed =
        |error: io::Error| StoreError(format!("the folder {} is not usable: {error}", folder.display()).into());
    create(folder).and_then(|()| delete_unfinished(folder)).map_err(failed)?;
    // An archive that the database lists must be complete, also after a power failure.
    Ok(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true))
}

fn create(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Deletes the files to which `object_store` writes an upload: `<name>#<number>`.
fn delete_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(".tar.gz#") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Checks that the disk of the folder has space for these bytes.
pub(crate) fn check_space(folder: &Path, bytes: u64) -> Result<(), StoreError> {
    // If the file system does not report its free space, the write fails when the disk is full.
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let (total, free) = (disk.f_blocks.saturating_mul(disk.f_frsize), disk.f_bavail.saturating_mul(disk.f_frsize));
    if free.saturating_sub(bytes) >= reserve(total) {
        return Ok(());
    }
    let (folder, free) = (folder.display(), free >> 20);
    Err(StoreError(format!("the disk of the folder {folder} is almost full: {free} MiB are free").into()))
}

/// Returns the bytes of a disk of this size that stay free.
fn reserve(total: u64) -> u64 {
    RESERVE_BYTES.min(total / 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_leaves_space_on_the_disk_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        check_space(folder.path(), 1).unwrap();
        let error = check_space(folder.path(), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("is almost full"), "{error}");
        assert_eq!([10 << 30, 100 << 30].map(reserve), [512 << 20, 1 << 30]);
    }
}
