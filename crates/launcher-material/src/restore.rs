//! Places the files of an archive in the directory of an app: the saved files of an earlier workshop.
//!
//! The launcher wrote the archive and limits it. No app has been in the directory yet, so nothing is merged: a file of the
//! archive replaces what the image has at its path. The files of a git repository are placed, too, because they are the user's
//! own.

use std::fs::{Permissions, set_permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Component, Path};

use rustix::process::geteuid;
use tar::{Archive, EntryType};

/// Permissions that the owner of a directory needs to place files in it.
const OWNER: u32 = 0o700;

/// Places the files and directories of a tar archive. Returns their number. No link is followed. If root runs the program,
/// they get the owner of the directory.
///
/// # Errors
/// An error of the archive or of the file system, or an entry that is neither a file nor a directory, or that would be outside
/// of the directory.
pub fn restore(directory: &Path, archive: impl Read) -> io::Result<usize> {
    let mut archive = Archive::new(archive);
    let (mut entries, mut closed) = (0, Vec::new());
    let owner = owner(directory)?;
    for entry in archive.entries()? {
        let mut entry = entry?;
        entries += 1;
        let path = entry.path()?.into_owned();
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::Regular | EntryType::Directory) {
            return Err(refused(&path, "is neither a file nor a directory"));
        }
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(refused(&path, "leaves the directory"));
        }
        let mode = entry.header().mode()?;
        make_way(directory, &path, kind == EntryType::Directory)?;
        if !entry.unpack_in(directory)? {
            return Err(refused(&path, "leaves the directory"));
        }
        if let Some((user, group)) = owner {
            lchown(directory.join(&path), Some(user), Some(group))?;
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

/// Returns the owner that the files get; `None` if they are the user's who runs the program.
fn owner(directory: &Path) -> io::Result<Option<(u32, u32)>> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let found = std::fs::metadata(directory)?;
    Ok(Some((found.uid(), found.gid())))
}

/// Removes what is in the way of an entry: anything but a directory at a path of a directory, and a directory at the path of a
/// file.
fn make_way(directory: &Path, path: &Path, is_directory: bool) -> io::Result<()> {
    let mut at = directory.to_owned();
    let mut parts = path.components().filter(|part| matches!(part, Component::Normal(_))).peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let wants_directory = is_directory || parts.peek().is_some();
        match std::fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() == wants_directory => {}
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&at)?,
            // A file at the path of a file is replaced.
            Ok(_) => std::fs::remove_file(&at)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn refused(path: &Path, problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the entry {} {problem}", path.display()))
}
