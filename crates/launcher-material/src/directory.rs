//! Directories of the student. Each access names one entry of an open directory and follows no link, so it never leaves
//! the directory, even through links that the student created.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
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
    pub fn remove(&self, name: &str) -> Result<(), Errno> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    /// Removes a directory; false if it is not empty.
    pub fn remove_directory(&self, name: &str) -> Result<bool, Errno> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR | Errno::BUSY) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes all data of the file system to the disk.
    pub fn synchronise(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(self.0.as_fd())
    }
}

/// Name of a file that is being copied from another file system.
const COPY: &str = ".course-material-copy";
/// Maximum files of this name, with a number.
const COPIES: usize = 100;

impl Dir {
    /// Moves a file to another directory, in place of a file of this name.
    pub fn replace(&self, name: &str, to: &Self, new_name: &str) -> Result<(), Errno> {
        match rustix::fs::renameat(&self.0, name, &to.0, new_name) {
            Err(Errno::XDEV) => self.move_by_copy(name, to, |copy| to.replace(copy, to, new_name)),
            result => result,
        }
    }

    /// Moves a file to another directory, where no entry of this name may exist.
    ///
    /// # Errors
    /// An error of the file system: `EXIST` if there is an entry.
    pub fn place(&self, name: &str, to: &Self, new_name: &str) -> Result<(), Errno> {
        match rustix::fs::renameat_with(&self.0, name, &to.0, new_name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(Errno::XDEV) => return self.move_by_copy(name, to, |copy| to.place(copy, to, new_name)),
            result => return result,
        }
        match rustix::fs::linkat(&self.0, name, &to.0, new_name, AtFlags::empty()) {
            Ok(()) => rustix::fs::unlinkat(&self.0, name, AtFlags::empty()),
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => match to.kind(new_name)? {
                Kind::Missing => self.replace(name, to, new_name),
                _ => Err(Errno::EXIST),
            },
            Err(error) => Err(error),
        }
    }

    /// Moves a file to a directory of another file system: copies it there under a temporary name, and lets `rename` give
    /// the copy its name. Containers without storage have a file system for each target.
    fn move_by_copy(&self, name: &str, to: &Self, rename: impl FnOnce(&str) -> Result<(), Errno>) -> Result<(), Errno> {
        let (from, _) = self.read(name).map_err(|error| errno(&error))?.ok_or(Errno::NOENT)?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&from)?.st_mode & 0o777);
        let (copy_name, copy) = to.copy(mode)?;
        let moved = copy_content(from, copy, mode).and_then(|()| rename(&copy_name));
        let removed = if moved.is_ok() { self.remove(name) } else { to.remove(&copy_name) };
        moved.and(removed)
    }

    /// Creates a file for a copy. A killed run may have left one, or the student may have one of this name: both stay.
    fn copy(&self, mode: Mode) -> Result<(String, File), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for number in 1..=COPIES {
            let name = if number == 1 { COPY.to_owned() } else { format!("{COPY}-{number}") };
            match rustix::fs::openat(&self.0, &name, flags, mode) {
                Err(Errno::EXIST) => {}
                created => return Ok((name, created?.into())),
            }
        }
        // `EXIST` would mean that the target exists.
        Err(Errno::BUSY)
    }
}

fn copy_content(mut from: File, mut copy: File, mode: Mode) -> Result<(), Errno> {
    io::copy(&mut from, &mut copy).map_err(|error| errno(&error))?;
    rustix::fs::fchmod(&copy, mode)
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    /// Two directories, of different file systems on most machines.
    fn directories() -> [tempfile::TempDir; 2] {
        [tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()]
    }

    #[test]
    fn file_moves_to_another_file_system_with_its_mode_and_replaces_only_on_request() {
        let [part, target] = directories();
        let (from, to) = (Dir::open(part.path()).unwrap(), Dir::open(target.path()).unwrap());
        let write = |text: &str| {
            fs::write(part.path().join("part"), text).unwrap();
            fs::set_permissions(part.path().join("part"), PermissionsExt::from_mode(0o755)).unwrap();
        };
        let read = || fs::read_to_string(target.path().join("run.sh")).unwrap();
        write("one");
        from.place("part", &to, "run.sh").unwrap();
        assert_eq!(read(), "one");
        assert_eq!(fs::metadata(target.path().join("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        write("two");
        assert_eq!(from.place("part", &to, "run.sh"), Err(Errno::EXIST));
        assert_eq!(read(), "one");
        from.replace("part", &to, "run.sh").unwrap();
        assert_eq!(read(), "two");
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 1, "no copy is left");
        assert_eq!(fs::read_dir(part.path()).unwrap().count(), 0);
    }

    #[test]
    fn file_with_the_name_of_the_copy_is_not_lost() {
        let [part, target] = directories();
        fs::write(part.path().join("part"), "new").unwrap();
        fs::write(target.path().join(COPY), "mine").unwrap();
        let (from, to) = (Dir::open(part.path()).unwrap(), Dir::open(target.path()).unwrap());
        fs::write(target.path().join(format!("{COPY}-2")), "mine, too").unwrap();
        from.place("part", &to, "file").unwrap();
        let read = |name: &str| fs::read_to_string(target.path().join(name)).unwrap();
        let found = [read("file"), read(COPY), read(&format!("{COPY}-2"))];
        assert_eq!(found, ["new", "mine", "mine, too"]);
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 3, "no copy is left");
    }

    #[test]
    fn file_of_which_no_copy_can_be_made_is_no_existing_file() {
        let [part, target] = directories();
        fs::write(part.path().join("part"), "new").unwrap();
        let (from, to) = (Dir::open(part.path()).unwrap(), Dir::open(target.path()).unwrap());
        if fs::metadata(part.path()).unwrap().dev() == fs::metadata(target.path()).unwrap().dev() {
            return;
        }
        let names = std::iter::once(COPY.to_owned()).chain((2..=COPIES).map(|number| format!("{COPY}-{number}")));
        names.for_each(|name| fs::write(target.path().join(name), "").unwrap());
        assert_eq!(from.place("part", &to, "file"), Err(Errno::BUSY));
    }
}
