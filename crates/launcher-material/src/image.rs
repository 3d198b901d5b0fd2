//! Files of the app's image at a directory: copies them into the volume that is mounted there.
//!
//! On a cluster, a volume hides the files of the image below its mount path. An init container with the app's image therefore
//! copies them before the app starts. That image has no program of the launcher, so another init container installs this
//! one into a volume.

mod error;
mod tree;

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, fchown};
use std::path::Path;

pub use error::CopyError;
use rustix::process::geteuid;
pub use tree::Copied;
use tree::Tree;

/// Mode of the installed program.
const PROGRAM_MODE: u32 = 0o555;

/// Copies this program to a path. An older copy is replaced.
///
/// # Errors
/// An error of the file system.
pub fn install(target: &Path) -> io::Result<()> {
    let temporary = target.with_extension("new");
    std::fs::copy("/proc/self/exe", &temporary)?;
    std::fs::set_permissions(&temporary, Permissions::from_mode(PROGRAM_MODE))?;
    std::fs::rename(&temporary, target)
}

/// Copies the files below `source` into the directory `target`, with at most `most` bytes. Afterwards it creates the file
/// `marker`. If this file exists, it copies nothing: after a restart of the node, the kubelet runs init containers again, and the
/// directory then has the work of the student. Returns `None` in this case.
///
/// The image chooses what `source` is. A link is refused: it may lead to `/proc`, or to a directory with the target.
///
/// # Errors
/// [`CopyError`]. The next attempt copies all files again.
pub fn copy(source: &Path, target: &Path, marker: &Path, most: u64) -> Result<Option<Copied>, CopyError> {
    if marker.exists() {
        return Ok(None);
    }
    // Without a slash at the end, which would follow a link.
    let source = source.components().as_path();
    let is_root = geteuid().is_root();
    let copied = match std::fs::symlink_metadata(source) {
        Ok(found) if found.is_dir() => {
            if is_root {
                own(target, &found).map_err(|error| CopyError::File { path: source.to_owned(), source: error })?;
            }
            Tree::new(source, target, most, is_root).copy()?
        }
        Ok(_) => return Err(CopyError::NotADirectory(source.to_owned())),
        // The image has no files there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Copied::default(),
        Err(error) => return Err(CopyError::File { path: source.to_owned(), source: error }),
    };
    File::create(marker).map_err(|error| CopyError::Marker { path: marker.to_owned(), source: error })?;
    Ok(Some(copied))
}

/// Gives the target the owner of the source. Its mode stays, so that the program for course material can write to it.
fn own(target: &Path, found: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    fchown(File::open(target)?, Some(found.uid()), Some(found.gid()))
}
