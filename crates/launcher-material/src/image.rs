//! Files of the app's image at a directory: copies them into the volume that is mounted there.
//!
//! On a cluster, a volume hides the files of the image below its mount path. An init container with the app's image therefore
//! copies them before the app starts. That image has no program of the launcher, so another init container installs this
//! one into a volume.

use std::fs::{DirBuilder, DirEntry, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::io::Read as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown, lchown,
    symlink,
};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use rustix::process::geteuid;

/// Mode of the installed program.
const PROGRAM_MODE: u32 = 0o555;

/// Copies this program to a path. An older copy is replaced.
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
/// The text says what is wrong and what to do. The next attempt copies all files again.
pub fn copy(source: &Path, target: &Path, marker: &Path, most: u64) -> Result<Option<Copied>, String> {
    if marker.exists() {
        return Ok(None);
    }
    // Without a slash at the end, which would follow a link.
    let source = source.components().as_path();
    let is_root = geteuid().is_root();
    let copied = match std::fs::symlink_metadata(source) {
        Ok(found) if found.is_dir() => {
            if is_root {
                // The mode stays, so that the program for course material can write to the target.
                chown(target, Some(found.uid()), Some(found.gid())).map_err(|error| failed(source, &error))?;
            }
            Tree::new(source, target, most, is_root).copy()?
        }
        Ok(_) => {
            return Err(format!(
                "{} is no directory in the image, or a link: choose another directory in the template",
                source.display()
            ));
        }
        // The image has no files there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Copied::default(),
        Err(error) => return Err(failed(source, &error)),
    };
    File::create(marker).map_err(|error| format!("writing {} failed: {error}", marker.display()))?;
    Ok(Some(copied))
}

/// Returns the error of a file or directory in the image.
fn failed(path: &Path, error: &io::Error) -> String {
    format!("copying {} from the image failed: {error}", path.display())
}

/// Mode of a directory while its files are copied.
const OPEN: u32 = 0o700;
/// Bits of a mode that are copied.
const MODE: u32 = 0o7777;

/// Result of a copy.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Number of files, directories and links.
    pub entries: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Files and directories that the app's user cannot read. They are missing.
    pub unreadable: Vec<PathBuf>,
}

/// A copy in progress.
struct Tree<'a> {
    source: &'a Path,
    target: &'a Path,
    /// Maximum bytes of all files.
    most: u64,
    /// True if the files get the owners that they have in the image. Only root can do this.
    with_owners: bool,
    copied: Copied,
    /// Directories whose files are not copied yet, relative to the source.
    waiting: Vec<PathBuf>,
    /// Directories that get their modes and times at the end, parents first.
    directories: Vec<(PathBuf, Metadata)>,
}

impl<'a> Tree<'a> {
    fn new(source: &'a Path, target: &'a Path, most: u64, with_owners: bool) -> Self {
        let (copied, waiting, directories) = (Copied::default(), vec![PathBuf::new()], Vec::new());
        Self { source, target, most, with_owners, copied, waiting, directories }
    }

    /// Copies all files.
    fn copy(mut self) -> Result<Copied, String> {
        while let Some(directory) = self.waiting.pop() {
            let entries = match std::fs::read_dir(self.source.join(&directory)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.copied.unreadable.push(directory);
                    continue;
                }
                entries => entries.map_err(|error| self.explained(&directory, &error))?,
            };
            for entry in entries {
                let entry = entry.map_err(|error| self.explained(&directory, &error))?;
                let path = directory.join(entry.file_name());
                self.entry(&path, &entry).map_err(|error| self.explained(&path, &error))?;
            }
        }
        // A parent may forbid changes of its entries, so it gets its mode after them.
        for (path, found) in self.directories.iter().rev() {
            self.finish_directory(path, found).map_err(|error| self.explained(path, &error))?;
        }
        Ok(self.copied)
    }

    fn entry(&mut self, path: &Path, entry: &DirEntry) -> io::Result<()> {
        let (found, target) = (entry.metadata()?, self.target.join(path));
        if is_special(found.file_type()) {
            return Ok(());
        }
        self.copied.entries += 1;
        if found.is_dir() {
            make_directory(&target)?;
            self.own(&target, &found)?;
            self.waiting.push(path.to_owned());
            self.directories.push((path.to_owned(), found));
            return Ok(());
        }
        remove(&target)?;
        if found.is_symlink() {
            symlink(std::fs::read_link(entry.path())?, &target)?;
            self.own(&target, &found)?;
            return set_times(&target, &found);
        }
        self.file(path, &entry.path(), &target, &found)
    }

    fn file(&mut self, path: &Path, source: &Path, target: &Path, found: &Metadata) -> io::Result<()> {
        let from = match File::open(source) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.copied.unreadable.push(path.to_owned());
                return Ok(());
            }
            opened => opened?,
        };
        self.copied.bytes = self.copied.bytes.saturating_add(found.len());
        if self.copied.bytes > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
        // The limit counts this size. The file may grow meanwhile.
        io::copy(&mut from.take(found.len()), &mut to)?;
        self.own(target, found)?;
        // After the owner, whose change removes bits of the mode.
        to.set_permissions(Permissions::from_mode(found.mode() & MODE))?;
        drop(to);
        set_times(target, found)
    }

    fn finish_directory(&self, path: &Path, found: &Metadata) -> io::Result<()> {
        let target = self.target.join(path);
        std::fs::set_permissions(&target, Permissions::from_mode(found.mode() & MODE))?;
        set_times(&target, found)
    }

    fn own(&self, target: &Path, found: &Metadata) -> io::Result<()> {
        if self.with_owners { lchown(target, Some(found.uid()), Some(found.gid())) } else { Ok(()) }
    }

    fn explained(&self, path: &Path, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::FileTooLarge => format!(
                "the files of the image below {} need more than {} bytes: use a smaller image or another directory",
                self.source.display(),
                self.most
            ),
            _ => failed(&self.source.join(path), error),
        }
    }
}

/// True for devices, pipes and sockets. They are not copied.
fn is_special(kind: FileType) -> bool {
    kind.is_block_device() || kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}

/// Creates a directory. It may exist from an attempt that was killed.
fn make_directory(target: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(OPEN).create(target) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::set_permissions(target, Permissions::from_mode(OPEN))
        }
        created => created,
    }
}

/// Removes a file or link from an attempt that was killed.
fn remove(target: &Path) -> io::Result<()> {
    match std::fs::remove_file(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Gives a file, directory or link the times of the one in the image.
fn set_times(target: &Path, found: &Metadata) -> io::Result<()> {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(found.atime(), found.atime_nsec()),
        last_modification: time(found.mtime(), found.mtime_nsec()),
    };
    Ok(utimensat(CWD, target, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
