//! State of the last delivery, in `.course-material`: which content the program placed at which path.
//!
//! The journal has the changes of a run that did not end. It is written before each change, so that the next run still
//! distinguishes the program's own changes from those of the student.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::content::{Digest, parse_hex};
use crate::directory::{Dir, Kind};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::path;

/// Directory of the states, in the directory of the material.
pub const DIRECTORY: &str = ".course-material";

/// State of one target.
#[derive(Debug, Default)]
pub struct State {
    /// Version of the last complete delivery.
    pub version: Option<String>,
    folder: Option<String>,
    /// Contents of the last complete delivery. A file stays listed after the student deleted it.
    pub files: BTreeMap<String, Digest>,
    /// Contents that interrupted runs placed.
    placed: BTreeMap<String, BTreeSet<Digest>>,
    /// Files that interrupted runs removed.
    removed: BTreeSet<String>,
    is_interrupted: bool,
    /// True if the stored state is that of another repository, whose folder the student moved away.
    pub(super) is_other: bool,
}

impl State {
    /// True if this version was delivered completely, and no later run was interrupted.
    #[must_use]
    pub fn is_current(&self, version: &str, folder: Option<&str>) -> bool {
        !self.is_interrupted && self.version.as_deref() == Some(version) && self.folder.as_deref() == folder
    }

    /// True before the first run.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.version.is_none()
    }

    /// True if the program placed this content at this path.
    #[must_use]
    pub fn is_ours(&self, path: &str, content: &Digest) -> bool {
        self.files.get(path) == Some(content) || self.placed.get(path).is_some_and(|placed| placed.contains(content))
    }

    /// True if a missing file is missing because the student deleted it. After an interrupted removal, it counts as removed by
    /// the program, even if a later run recorded a new content: that run may have been killed before it placed the file.
    #[must_use]
    pub fn is_deleted_by_student(&self, path: &str) -> bool {
        self.files.contains_key(path) && !self.removed.contains(path)
    }

    /// True if an interrupted run may have changed this file.
    #[must_use]
    pub fn was_touched(&self, path: &str) -> bool {
        self.placed.contains_key(path) || self.removed.contains(path)
    }

    /// Paths at which the program placed a file.
    pub fn paths(&self) -> BTreeSet<String> {
        self.files.keys().chain(self.placed.keys()).cloned().collect()
    }
}

/// Version to merge.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a> {
    /// Commit id, or SHA-256 of an archive.
    pub id: &'a str,
    /// Folder of the source.
    pub folder: Option<&'a str>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    version: String,
    /// Folder of the source. Another folder of the same version has other files.
    #[serde(default)]
    folder: Option<String>,
    /// Address of a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    /// True if some directories were locked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_partial: bool,
    files: BTreeMap<String, String>,
}

/// Line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Change<'a> {
    path: std::borrow::Cow<'a, str>,
    /// SHA-256 of the new content; `None` before a removal.
    sha256: Option<std::borrow::Cow<'a, str>>,
}

/// Files of the state of one target.
#[derive(Debug)]
pub struct Store {
    directory: Dir,
    target: String,
    /// Maximum bytes of each file.
    most: u64,
    /// Address of the repository; `None` for an archive.
    repository: Option<String>,
    is_target_missing: bool,
}

impl Store {
    /// Opens the directory of the states, and creates it if it does not exist.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn open(root: &Dir, target: &str, repository: Option<&str>, limits: &Limits) -> Result<Self, Failure> {
        let directory = root.make(DIRECTORY).map_err(|error| match error {
            Errno::NOTDIR => Failure::new(format!("{DIRECTORY} is not a directory: rename it, and launch again.")),
            error => error.into(),
        })?;
        let store = Self {
            directory,
            target: target.to_owned(),
            most: limits.state_bytes,
            repository: repository.map(str::to_owned),
            is_target_missing: root.kind(target)? == Kind::Missing,
        };
        for name in [store.part(), store.file(), store.journal()] {
            if store.directory.kind(&name)? == Kind::Directory {
                let name = format!("{DIRECTORY}/{name}");
                return Err(Failure::new(format!("{name} is a directory: rename it, and launch again.")));
            }
        }
        // A killed run may have left a part of a large file.
        store.directory.remove(&store.part())?;
        Ok(store)
    }

    /// Directory of the states, also of temporary files.
    #[must_use]
    pub fn directory(&self) -> &Dir {
        &self.directory
    }

    /// Name of the target.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Name of the file that is written before it is moved to its place.
    #[must_use]
    pub fn part(&self) -> String {
        format!("{}.part", self.target)
    }

    fn file(&self) -> String {
        format!("{}.json", self.target)
    }

    fn journal(&self) -> String {
        format!("{}.journal", self.target)
    }

    /// Reads the state. A damaged one counts as none: then all existing files count as the student's. The student can write
    /// the state, so that paths outside of the target are ignored.
    ///
    /// # Errors
    /// An error of the file system, or the files are those of another repository.
    pub fn load(&self) -> Result<State, Failure> {
        let mut state = State::default();
        let stored = self.read(&self.file())?.and_then(|text| serde_json::from_slice::<Stored>(&text).ok());
        if let Some(stored) = stored {
            if self.is_other(&stored)? {
                return Ok(State { is_other: true, ..state });
            }
            state.is_interrupted = stored.is_partial;
            let files = stored.files.into_iter().filter(|(path, _)| is_inside(path));
            let files = files.filter_map(|(path, digits)| Some((path, parse_hex(&digits)?)));
            (state.version, state.folder, state.files) = (Some(stored.version), stored.folder, files.collect());
        }
        let Some(journal) = self.read(&self.journal())? else { return Ok(state) };
        state.is_interrupted = true;
        let changes =
            journal.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Change<'_>>(line).ok());
        for change in changes.filter(|change| is_inside(&change.path)) {
            let path = change.path.into_owned();
            match change.sha256 {
                None => {
                    state.removed.insert(path);
                }
                Some(digits) => {
                    state.placed.entry(path).or_default().extend(parse_hex(&digits));
                }
            }
        }
        Ok(state)
    }

    /// True if the stored state is that of another repository, whose folder is gone.
    fn is_other(&self, stored: &Stored) -> Result<bool, Failure> {
        let (Some(stored), Some(own)) = (&stored.repository, &self.repository) else { return Ok(false) };
        if is_same_repository(stored, own) {
            return Ok(false);
        }
        if self.is_target_missing {
            return Ok(true);
        }
        Err(Failure::new(format!(
            "The folder {} belongs to another repository, {stored}: rename the folder, and launch the workshop again.",
            self.target
        )))
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some((file, _)) = self.directory.read(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(self.most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Opens the journal. From now on, the run counts as interrupted until it is complete.
    pub fn begin(&self, state: &State) -> Result<Journal, Failure> {
        if state.is_other {
            self.directory.remove(&self.journal())?;
            self.directory.remove(&self.file())?;
        }
        // Without a line end, a killed run left a part of a line.
        let mut file = self.directory.append(&self.journal())?;
        file.write_all(b"\n")?;
        Ok(Journal(file))
    }

    /// Stores the state of a delivery. If it is partial, the next run merges the same version again.
    ///
    /// # Errors
    /// An error of the file system, or a state that `load` would not read completely.
    pub fn complete(
        &self,
        version: Version<'_>,
        is_partial: bool,
        files: impl Iterator<Item = (String, Digest)>,
    ) -> Result<(), Failure> {
        let files = files.map(|(path, digest)| (path, hex::encode(digest))).collect();
        let stored = Stored {
            version: version.id.to_owned(),
            folder: version.folder.map(str::to_owned),
            repository: self.repository.clone(),
            is_partial,
            files,
        };
        let content = serde_json::to_vec(&stored).map_err(std::io::Error::from)?;
        if content.len() as u64 > self.most {
            return Err(Failure::new("The list of all files is too long: choose a folder of the source."));
        }
        let part = self.part();
        let mut file = self.directory.create(&part, false)?;
        file.write_all(&content)?;
        // The files must be on the disk before the state that lists them.
        self.directory.synchronise()?;
        self.directory.replace(&part, &self.directory, &self.file())?;
        Ok(self.directory.remove(&self.journal())?)
    }
}

/// True for a path that the program could have placed.
fn is_inside(path: &str) -> bool {
    path::check(path.as_bytes()).is_ok_and(|checked| checked.as_deref() == Some(path))
}

/// Open journal.
#[derive(Debug)]
pub struct Journal(File);

impl Journal {
    /// Records the next change: the content that a file gets, or `None` before its removal.
    pub fn record(&mut self, path: &str, content: Option<&Digest>) -> Result<(), Failure> {
        let change = Change { path: path.into(), sha256: content.map(|digest| hex::encode(digest).into()) };
        let mut line = serde_json::to_vec(&change).map_err(std::io::Error::from)?;
        line.push(b'\n');
        Ok(self.0.write_all(&line)?)
    }
}

/// True if two addresses name one repository: they differ at most in the scheme, and in the suffix `.git`.
fn is_same_repository(one: &str, other: &str) -> bool {
    let parts = |url: &str| {
        let url = Url::parse(url).ok()?;
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).to_owned();
        Some((url.host_str()?.to_owned(), url.port(), path, url.query().map(str::to_owned)))
    };
    one == other || parts(one).is_some_and(|one| Some(one) == parts(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_repository_are_equal() {
        let url = "https://git.example.org/alice/hw1.git";
        for same in [url, "http://GIT.example.org/alice/hw1/", "https://git.example.org:443/alice/hw1"] {
            assert!(is_same_repository(url, same), "{same}");
        }
        for other in ["https://git.example.org/bob/hw1.git", "https://git.example.org:8080/alice/hw1.git", "", "alice"]
        {
            assert!(!is_same_repository(url, other), "{other}");
        }
    }
}
