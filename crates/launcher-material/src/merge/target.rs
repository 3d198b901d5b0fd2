//! Directory of one target, with the student's files.

use std::fs::File;

use rustix::io::Errno;

use crate::directory::{Dir, Kind, Stamp};
use crate::failure::Failure;
use crate::path::{last_part, split};

#[derive(Debug)]
pub(crate) struct Target<'a> {
    root: &'a Dir,
    name: &'a str,
    /// Last opened directory: most files are in the same directory as the one before.
    last: Option<(String, Dir)>,
}

#[derive(Debug)]
pub(crate) enum Entry {
    /// There is no entry.
    Missing,
    /// Open regular file.
    File(File, Stamp),
    /// The path component with this index is not a directory, or the last component is not a regular file.
    Blocked(usize),
    /// The student locked a directory of the path, so that the entry is unknown.
    Locked,
}

/// Result of an attempt to open a directory.
enum Opened<'d> {
    Directory(&'d Dir),
    Missing,
    /// The path component with this index is not a directory.
    Blocked(usize),
    /// The permissions of a directory do not allow access.
    Locked,
}

impl<'a> Target<'a> {
    /// Opens the directory `name` in `root`. It may be missing.
    ///
    /// # Errors
    /// The name belongs to something else.
    pub(crate) fn open(root: &'a Dir, name: &'a str) -> Result<Self, Failure> {
        match root.kind(name)? {
            Kind::Missing | Kind::Directory => Ok(Self { root, name, last: None }),
            Kind::File(_) | Kind::Other => Err(Failure::new(format!(
                "{name} is a file or a link, not a directory: rename it, and launch the workshop again."
            ))),
        }
    }

    /// Creates the directory of the target itself.
    pub(crate) fn create(&self) -> Result<(), Failure> {
        self.root.make(self.name)?;
        Ok(())
    }

    /// Opens the directory of this path, below the target.
    fn enter(&mut self, directory: &str, is_created: bool) -> Result<Opened<'_>, Failure> {
        if self.last.as_ref().is_none_or(|(path, _)| path != directory) {
            let step = |parent: &Dir, name: &str| if is_created { parent.make(name) } else { parent.enter(name) };
            let mut current = match step(self.root, self.name) {
                Ok(opened) => opened,
                Err(Errno::NOENT) => return Ok(Opened::Missing),
                Err(Errno::ACCESS) if !is_created => return Ok(Opened::Locked),
                Err(error) => return Err(denied(self.name, error)),
            };
            for (index, part) in directory.split('/').filter(|part| !part.is_empty()).enumerate() {
                current = match step(&current, part) {
                    Ok(opened) => opened,
                    Err(Errno::NOENT) => return Ok(Opened::Missing),
                    Err(Errno::NOTDIR) => return Ok(Opened::Blocked(index)),
                    Err(Errno::ACCESS) if !is_created => return Ok(Opened::Locked),
                    Err(error) => return Err(denied(directory, error)),
                };
            }
            self.last = Some((directory.to_owned(), current));
        }
        Ok(self.last.as_ref().map_or(Opened::Missing, |(_, opened)| Opened::Directory(opened)))
    }

    pub(crate) fn entry(&mut self, path: &str) -> Result<Entry, Failure> {
        let (directory, name) = split(path);
        let opened = match self.enter(directory, false)? {
            Opened::Missing => return Ok(Entry::Missing),
            Opened::Blocked(part) => return Ok(Entry::Blocked(part)),
            Opened::Locked => return Ok(Entry::Locked),
            Opened::Directory(opened) => opened,
        };
        match opened.kind(name) {
            Ok(Kind::Missing) => return Ok(Entry::Missing),
            Err(Errno::ACCESS) => return Ok(Entry::Locked),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let found = opened.read(name)?;
        Ok(found.map_or(Entry::Blocked(last_part(path)), |(file, stamp)| Entry::File(file, stamp)))
    }

    /// Creates a directory, unless something else is in its place.
    pub(crate) fn create_directory(&mut self, path: &str) -> Result<(), Failure> {
        self.enter(path, true)?;
        Ok(())
    }

    /// Moves a file to a path where no entry exists. If another entry blocks the path, returns the index of the blocked
    /// path component.
    pub(crate) fn place(&mut self, from: &Dir, part: &str, path: &str) -> Result<Option<usize>, Failure> {
        let (directory, name) = split(path);
        let opened = match self.enter(directory, true)? {
            Opened::Directory(opened) => opened,
            Opened::Blocked(part) => return Ok(Some(part)),
            Opened::Missing | Opened::Locked => return Ok(Some(0)),
        };
        match from.place(part, opened, name) {
            Ok(()) => Ok(None),
            Err(Errno::EXIST) => Ok(Some(last_part(path))),
            Err(error) => Err(denied(path, error)),
        }
    }

    /// Replaces a file that still has this stamp; false if it has changed.
    pub(crate) fn replace(&mut self, from: &Dir, part: &str, path: &str, stamp: Stamp) -> Result<bool, Failure> {
        let (directory, name) = split(path);
        let Opened::Directory(opened) = self.enter(directory, false)? else { return Ok(false) };
        if opened.kind(name)? != Kind::File(stamp) {
            return Ok(false);
        }
        from.replace(part, opened, name).map_err(|error| denied(path, error))?;
        Ok(true)
    }

    /// Removes a file that still has this stamp, and the directories that are empty then.
    pub(crate) fn remove(&mut self, path: &str, stamp: Stamp) -> Result<(), Failure> {
        let (mut directory, name) = split(path);
        let Opened::Directory(opened) = self.enter(directory, false)? else { return Ok(()) };
        if opened.kind(name)? != Kind::File(stamp) {
            return Ok(());
        }
        opened.remove(name).map_err(|error| denied(path, error))?;
        while !directory.is_empty() {
            self.last = None;
            let (parent, name) = split(directory);
            let Opened::Directory(opened) = self.enter(parent, false)? else { return Ok(()) };
            if !opened.remove_directory(name)? {
                return Ok(());
            }
            directory = parent;
        }
        Ok(())
    }
}

/// Names the path in a failure that the student can remedy.
fn denied(path: &str, error: Errno) -> Failure {
    match error {
        Errno::ACCESS | Errno::PERM => Failure::new(format!(
            "The directory of {path} cannot be written ({error}): correct its permissions, and launch the workshop again."
        )),
        _ => error.into(),
    }
}
