//! Files of one version of a source, before they are merged.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use crate::failure::Failure;
use crate::limits::Limits;

/// SHA-256 of the content of a file.
pub type Digest = [u8; 32];

/// File of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// SHA-256 of the content.
    pub sha256: Digest,
    /// Bytes of the content.
    pub size: u64,
    /// True for mode 755, false for mode 644.
    pub is_executable: bool,
    /// Position of the file in its source.
    pub position: usize,
}

/// Numbers of omitted entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Symbolic and hard links.
    pub links: usize,
    /// Submodules of a repository.
    pub submodules: usize,
    /// Devices, and other entries that are neither files nor directories.
    pub others: usize,
    /// Directories `.git`, and names that are not text.
    pub names: usize,
    /// Files `HEAD` of directories that git would take for a repository.
    pub repositories: usize,
}

impl Omitted {
    /// Returns a sentence about the omitted entries, if there are any.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let kinds = [
            (self.links, "links"),
            (self.submodules, "submodules"),
            (self.others, "entries that are neither files nor directories"),
            (self.names, "entries with names that are not allowed"),
            (self.repositories, "files HEAD of git repositories inside of the source"),
        ];
        let found: Vec<String> = kinds.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{kind}: {n}")).collect();
        (!found.is_empty()).then(|| format!("Not all entries of the source were placed; {}.", found.join(", ")))
    }
}

/// All files of one version of a source, by path.
#[derive(Debug, Default)]
pub struct Manifest {
    files: BTreeMap<String, FileEntry>,
    directories: BTreeSet<String>,
    bytes: u64,
    path_bytes: usize,
    /// Numbers of omitted entries.
    pub omitted: Omitted,
}

impl Manifest {
    /// Adds a file. A later file replaces an earlier one of the same path, as in `tar`.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn add(&mut self, path: String, file: FileEntry, limits: &Limits) -> Result<(), Failure> {
        limits.check_file(&path, file.size)?;
        self.bytes = self.bytes.saturating_add(file.size);
        limits.check_total(self.bytes)?;
        self.count_path(&path, limits)?;
        self.files.insert(path, file);
        limits.check_files(self.files.len())
    }

    /// Adds a directory, which may be empty.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn add_directory(&mut self, path: String, limits: &Limits) -> Result<(), Failure> {
        self.count_path(&path, limits)?;
        self.directories.insert(path);
        limits.check_files(self.directories.len())
    }

    /// Accounts for the memory of a path.
    ///
    /// # Errors
    /// The paths are too long.
    pub fn count_path(&mut self, path: &str, limits: &Limits) -> Result<(), Failure> {
        self.path_bytes = self.path_bytes.saturating_add(path.len());
        limits.check_paths(self.path_bytes)
    }

    /// Completes the list. Omits the file `HEAD` of each bare repository: git reads the configuration of a repository, and
    /// runs programs that the configuration names, as soon as the student runs `git status` in it.
    ///
    /// # Errors
    /// A path is both a file and a directory, or there is no file.
    pub fn complete(mut self, folder: Option<&str>) -> Result<Self, Failure> {
        if self.files.is_empty() && self.directories.is_empty() {
            let place = folder.map_or_else(|| "The source".to_owned(), |folder| format!("The folder {folder}"));
            return Err(Failure::new(format!("{place} has no files: check the folder and the URL.")));
        }
        for path in self.files.keys().chain(&self.directories) {
            let is_file = |end: usize| self.files.contains_key(path.get(..end).unwrap_or_default());
            let ends = path.match_indices('/').map(|(end, _)| end);
            if ends.clone().any(is_file) || (self.directories.contains(path) && self.files.contains_key(path)) {
                return Err(Failure::new(format!("The source has a file and a directory of one name: {path}.")));
            }
        }
        let heads: Vec<String> = self.files.keys().filter(|path| self.is_head_of_repository(path)).cloned().collect();
        for head in &heads {
            self.files.remove(head);
        }
        self.omitted.repositories += heads.len();
        Ok(self)
    }

    /// True if git would take the directory of this file for a repository, because the file is its `HEAD`. The test is that
    /// of git (`is_git_directory` in `setup.c`): the directories `objects` and `refs`, here or at the place that the file
    /// `commondir` names.
    fn is_head_of_repository(&self, path: &str) -> bool {
        let Some(directory) =
            path.strip_suffix("HEAD").filter(|directory| directory.is_empty() || directory.ends_with('/'))
        else {
            return false;
        };
        let has = |name: &str| {
            let path = format!("{directory}{name}");
            let below = format!("{path}/");
            let is_below = |found: &String| found.starts_with(&below);
            self.files.contains_key(&path)
                || self.directories.contains(&path)
                || self.files.range(below.clone()..).next().is_some_and(|(found, _)| is_below(found))
                || self.directories.range(below.clone()..).next().is_some_and(is_below)
        };
        has("commondir") || (has("objects") && has("refs"))
    }

    /// The files, in the order of their paths.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, FileEntry> {
        &self.files
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The directories that the source names.
    #[must_use]
    pub fn directories(&self) -> &BTreeSet<String> {
        &self.directories
    }
}

/// Function that receives files: the path, the file, and its content.
pub type Receive<'a> = dyn FnMut(&str, &FileEntry, &mut dyn Read) -> Result<(), Failure> + 'a;

/// Content of the files of one version.
pub trait Content {
    /// The list of all files.
    fn manifest(&self) -> &Manifest;

    /// Passes the files that `wanted` selects, each once, in any order.
    ///
    /// # Errors
    /// The content cannot be read, or the error of `receive`.
    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure>;
}

/// Parses the hexadecimal digits of a digest.
#[must_use]
pub fn parse_hex(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    hex::decode_to_slice(text, &mut digest).ok().map(|()| digest)
}

/// Returns the SHA-256 of a reader and its number of bytes.
pub fn digest(reader: &mut dyn Read) -> io::Result<(Digest, u64)> {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    let size = crate::meter::pieces(reader, |piece| {
        hasher.update(piece);
        Ok(())
    })?;
    Ok((hasher.finalize().into(), size))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::{Content, digest};
    use crate::failure::Failure;
    use crate::limits::Limits;

    /// Reads all files. Each must be that of the list, and the list must be within the limits.
    pub(crate) fn read_as_listed(content: &mut dyn Content, limits: &Limits) -> Result<(), Failure> {
        let listed = content.manifest().files().clone();
        assert!(
            listed.len() <= limits.files && listed.values().map(|file| file.size).sum::<u64>() <= limits.total_bytes
        );
        for path in listed.keys() {
            assert!(
                path.split('/').all(|part| !["", ".", ".."].contains(&part) && !part.eq_ignore_ascii_case(".git")),
                "{path}"
            );
        }
        let mut read = BTreeSet::new();
        content.read(&|_| true, &mut |path, file, content| {
            assert_eq!(digest(content)?, (file.sha256, file.size), "{path}");
            assert!(read.insert(path.to_owned()), "{path} is read twice");
            Ok(())
        })?;
        assert!(read.iter().eq(listed.keys()));
        Ok(())
    }
}
