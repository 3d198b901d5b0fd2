//! Directories of the student. Each access names one entry of an open directory and follows no link, so it never leaves
//! the directory, even through links that the student created.

mod moves;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Mode of new directories.
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// Open directory.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is no entry.
    Missing,
    /// Regular file, with the stamp of its content.
    File(Stamp),
    /// Directory.
    Directory,
    /// Link, pipe, socket or device.
    Other,
}

/// Stamp of a file, which changes with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    /// Bytes of the content.
    pub size: u64,
    changed: (i64, i64),
}

#[expect(clippy::unnecessary_cast, reason = "the types of the fields depend on the architecture")]
fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        inode: stat.st_ino as u64,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        changed: (stat.st_ctime as i64, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
    }
}

impl Dir {
    /// Opens a directory by its path. Links in this path are followed: the student cannot change it.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Opens a directory in this one.
    ///
    /// # Errors
    /// An error of the file system: `NOTDIR` if the entry is a file or a link.
    pub fn enter(&self, name: &str) -> Result<Self, Errno> {
        if matches!(name, "." | "..") {
            return Err(Errno::NOTDIR);
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(opened) => Ok(Self(opened)),
            Err(Errno::LOOP) => Err(Errno::NOTDIR),
            Err(error) => Err(error),
        }
    }

    /// Opens a directory in this one, and creates it if there is no entry of this name.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn make(&self, name: &str) -> Result<Self, Errno> {
        match self.enter(name) {
            Err(Errno::NOENT) => {}
            found => return found,
        }
        match rustix::fs::mkdirat(&self.0, name, DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => self.enter(name),
            Err(error) => Err(error),
        }
    }

    /// Returns the kind of an entry.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn kind(&self, name: &str) -> Result<Kind, Errno> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File(stamp(&stat)),
                FileType::Directory => Kind::Directory,
                _ => Kind::Other,
            }),
            Err(Errno::NOENT) => Ok(Kind::Missing),
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file for reading; `None` if the entry is anything else.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn read(&self, name: &str) -> io::Result<Option<(File, Stamp)>> {
        // NONBLOCK: without a writer, the opening of a pipe would wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            // EACCES: the student has removed the read permission, so the file counts as the student's own.
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&opened)?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Ok(is_file.then(|| (File::from(opened), stamp(&stat))))
    }

    /// Creates a file with this mode, in place of an entry of this name.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn create(&self, name: &str, is_executable: bool) -> io::Result<File> {
        self.remove(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if is_executable { 0o755 } else { 0o644 });
        let created = rustix::fs::openat(&self.0, name, flags, mode)?;
        rustix::fs::fchmod(&created, mode)?;
        Ok(created.into())
    }

    /// Opens a file to append to it, and creates it if it does not exist. An entry that other paths name, too, or that is no
    /// file, is removed before: the student could use it to write elsewhere.
    ///
    /// # Errors
    /// An error of the file system: `ISDIR` if the entry is a directory.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(opened) => {
                let stat = rustix::fs::fstat(&opened)?;
                if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1 {
                    return Ok(opened.into());
                }
            }
            // A link, a socket or a pipe without a reader, a device.
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
        self.remove(name)?;
        Ok(rustix::fs::openat(&self.0, name, flags | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(0o600))?.into())
    }

    /// Opens a file without a name in this directory.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn unnamed_file(&self) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, ".", flags, Mode::from_raw_mode(0o600)) {
            Ok(opened) => Ok(opened.into()),
            // NFS, for example, has no files without a name.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                let name = format!("download-{}-{:?}", std::process::id(), std::thread::current().id());
                self.remove(&name)?;
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let created = rustix::fs::openat(&self.0, &name, flags, Mode::from_raw_mode(0o600))?;
                self.remove(&name)?;
                Ok(created.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file or a link. A missing entry is no error.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn remove(&self, name: &str) -> Result<(), Errno> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    /// Removes a directory; false if it is not empty.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn remove_directory(&self, name: &str) -> Result<bool, Errno> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::BUSY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes all data of the file system to the disk.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn synchronise(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(self.0.as_fd())
    }
}
