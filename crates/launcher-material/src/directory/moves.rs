//! Moves of files between directories, also of different file systems.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Dir, Kind};

/// Name of a file that is being copied from another file system.
const COPY: &str = ".course-material-copy";
/// Maximum files of this name, with a number.
const COPIES: usize = 100;

impl Dir {
    /// Moves a file to another directory, in place of a file of this name.
    ///
    /// # Errors
    /// An error of the file system.
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
