//! A folder as object store.

use std::path::Path;
use std::{fs, io};

use object_store::local::LocalFileSystem;

use crate::error::StoreError;

/// Opens the folder. Creates it if it is missing, for this user alone. Deletes unfinished uploads: their launcher was
/// killed, because only one launcher uses a folder.
pub(crate) fn open(folder: &Path) -> Result<LocalFileSystem, StoreError> {
    let failed =
        |error: io::Error| StoreError(format!("the folder {} is not usable: {error}", folder.display()).into());
    create(folder).and_then(|()| delete_unfinished(folder)).map_err(failed)?;
    // After a power failure, an archive of the database must be complete.
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
