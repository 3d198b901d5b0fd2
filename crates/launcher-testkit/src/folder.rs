//! Folders of databases.

use std::path::Path;

use tempfile::TempDir;

/// Creates a temporary folder in memory if possible: SQLite waits for the disk at each commit.
///
/// # Panics
/// The folder cannot be created.
#[must_use]
pub fn memory_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}
