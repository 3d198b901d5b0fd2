//! Places the files of an archive in an empty directory: the saved files of an earlier workshop.
//!
//! The launcher wrote the archive and limits it, and the directory is the user's own. Nothing is merged: an app has not been
//! here yet. The files of a git repository are placed, too, because they are the user's own.

use std::fs::{Permissions, set_permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tar::{Archive, EntryType};

/// Permissions that the owner of a directory needs to place files in it.
const OWNER: u32 = 0o700;

/// Places the files and directories of a tar archive. Returns their number.
///
/// # Errors
/// An error of the archive or of the file system, or an entry that is neither a file nor a directory, or that would be outside
/// of the directory.
pub fn restore(directory: &Path, archive: impl Read) -> io::Result<usize> {
    let mut archive = Archive::new(archive);
    let (mut entries, mut closed) = (0, Vec::new());
    for entry in archive.entries()? {
        let mut entry = entry?;
        entries += 1;
        let path = entry.path()?.into_owned();
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::Regular | EntryType::Directory) {
            return Err(refused(&path, "is neither a file nor a directory"));
        }
        let mode = entry.header().mode()?;
        if !entry.unpack_in(directory)? {
            return Err(refused(&path, "leaves the directory"));
        }
        if kind == EntryType::Directory && mode & OWNER != OWNER {
            set_permissions(directory.join(&path), Permissions::from_mode(OWNER))?;
            closed.push((path, mode & 0o777));
        }
    }
    // Their files are placed now. The directories in a directory come first.
    for (path, mode) in closed.into_iter().rev() {
        set_permissions(directory.join(path), Permissions::from_mode(mode))?;
    }
    Ok(entries)
}

fn refused(path: &Path, problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the entry {} {problem}", path.display()))
}
