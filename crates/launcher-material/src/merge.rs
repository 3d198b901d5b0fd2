//! Merge of a new version with the student's files.
//!
//! | teacher | student | result |
//! |---|---|---|
//! | changed or added | unchanged or missing | the teacher's content |
//! | unchanged | any | the student's file |
//! | changed or added | changed, or another file of this name | the student's file, and the teacher's beside it |
//! | any | deleted | stays deleted |
//! | deleted | unchanged | deleted |
//! | deleted | changed | the student's file |
//!
//! A file is unchanged if its content is one that the program placed there: see [`state`]. Only such a file is ever
//! replaced or removed.

pub mod state;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};

use crate::content::{Content, FileEntry, digest};
use crate::directory::{Dir, Stamp};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::{Meter, pieces};
use crate::path::{beside, last_part};
use crate::space;

pub use state::Version;
use state::{Journal, State, Store};
use target::{Entry, Target};

/// Maximum files beside one path for the same version.
const ATTEMPTS: usize = 100;
/// Characters of a version in the names of files.
const SHORT: usize = 7;

/// Result of a merge.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Number of files that were placed, replaced or removed.
    pub changes: usize,
    /// Paths of all files that both changed.
    pub conflicts: Vec<String>,
    /// Paths in directories that the student locked. They stay as they are.
    pub locked: BTreeSet<String>,
}

/// Change of one path.
#[derive(Debug, Clone, Copy)]
enum Action {
    /// There is no file.
    Place,
    /// The file has this stamp and a content that the program placed.
    Replace(Stamp),
    /// The student has another entry at the path component with this index.
    Beside(usize),
}

/// Merges a version with the files in the target's directory in `root`.
///
/// # Errors
/// An error of the file system or of the content, or too little free space. The next run continues.
pub fn merge(
    root: &Dir,
    store: &Store,
    version: Version<'_>,
    content: &mut dyn Content,
    limits: &Limits,
    meter: &Meter,
) -> Result<Merged, Failure> {
    let state = store.load()?;
    let mut merge = Merge {
        target: Target::open(root, store.target())?,
        store,
        state: &state,
        version: version.id.get(..SHORT).unwrap_or(version.id),
        meter,
        limits,
        merged: Merged::default(),
    };
    space::check(root, merge.needed(content)?, limits)?;
    let mut journal = store.begin(&state)?;
    if state.is_new() {
        merge.target.create()?;
    }
    merge.remove_old(content, &mut journal)?;
    let actions = merge.actions(content)?;
    if state.is_new() {
        for directory in content.manifest().directories() {
            merge.target.create_directory(directory)?;
        }
    }
    content.read(&|path| actions.contains_key(path), &mut |path, file, reader| match actions.get(path) {
        Some(action) => merge.apply(path, file, *action, &mut journal, reader),
        None => Ok(()),
    })?;
    let mut merged = merge.merged;
    let locked = &merged.locked;
    let files = content.manifest().files().iter().filter(|(path, _)| !locked.contains(*path));
    let files = files.map(|(path, file)| (path.clone(), file.sha256));
    // The state still lists what the program placed in locked directories.
    let old = locked.iter().filter_map(|path| Some((path.clone(), *state.files.get(path)?)));
    store.complete(version, !locked.is_empty(), files.chain(old))?;
    merged.conflicts.sort();
    Ok(merged)
}

/// Running merge.
struct Merge<'a> {
    target: Target<'a>,
    store: &'a Store,
    state: &'a State,
    /// Short version, for names of files.
    version: &'a str,
    meter: &'a Meter,
    limits: &'a Limits,
    merged: Merged,
}

impl Merge<'_> {
    /// Estimates the bytes that the merge adds to the volume, without a look at contents.
    fn needed(&mut self, content: &dyn Content) -> Result<u64, Failure> {
        let (mut added, mut largest) = (0_u64, 0);
        for (path, file) in content.manifest().files() {
            self.meter.advance()?;
            if self.is_unchanged(path, file) {
                continue;
            }
            // The replacement of an old version frees its space. A file of the same size was probably placed by an
            // interrupted run.
            let present = match self.target.entry(path)? {
                Entry::File(_, stamp) if stamp.size == file.size || self.state.files.contains_key(path) => stamp.size,
                Entry::Missing if self.state.is_deleted_by_student(path) => file.size,
                Entry::Locked => file.size,
                _ => 0,
            };
            added = added.saturating_add(file.size.saturating_sub(present));
            largest = largest.max(if present == file.size { 0 } else { file.size });
        }
        // The largest file exists twice until it replaces its old version.
        Ok(added.max(largest))
    }

    /// Removes the files that the new version does not have, unless the student changed them.
    fn remove_old(&mut self, content: &dyn Content, journal: &mut Journal) -> Result<(), Failure> {
        for path in self.state.paths() {
            self.meter.advance()?;
            if content.manifest().files().contains_key(&path) {
                continue;
            }
            let (mut file, stamp) = match self.target.entry(&path)? {
                Entry::File(file, stamp) => (file, stamp),
                Entry::Missing | Entry::Blocked(_) => continue,
                Entry::Locked => {
                    self.merged.locked.insert(path);
                    continue;
                }
            };
            if stamp.size <= self.limits.file_bytes && self.state.is_ours(&path, &self.digest(&mut file)?) {
                journal.record(&path, None)?;
                self.target.remove(&path, stamp)?;
                self.merged.changes += 1;
            }
        }
        Ok(())
    }

    /// Decides the changes of all paths.
    fn actions(&mut self, content: &dyn Content) -> Result<BTreeMap<String, Action>, Failure> {
        let mut actions = BTreeMap::new();
        for (path, file) in content.manifest().files() {
            self.meter.advance()?;
            if !self.is_unchanged(path, file)
                && let Some(action) = self.action(path, file)?
            {
                actions.insert(path.clone(), action);
            }
        }
        Ok(actions)
    }

    /// True if the last delivery placed this content.
    fn is_unchanged(&self, path: &str, file: &FileEntry) -> bool {
        self.state.files.get(path) == Some(&file.sha256) && !self.state.was_touched(path)
    }

    fn action(&mut self, path: &str, file: &FileEntry) -> Result<Option<Action>, Failure> {
        Ok(match self.target.entry(path)? {
            Entry::Missing if self.state.is_deleted_by_student(path) => None,
            Entry::Missing => Some(Action::Place),
            Entry::Locked => {
                self.merged.locked.insert(path.to_owned());
                None
            }
            // No source has a file of this size. Computing its digest would take until the deadline.
            Entry::File(_, stamp) if stamp.size > self.limits.file_bytes => self.beside(path, file, last_part(path)),
            Entry::File(mut found, stamp) => {
                let current = self.digest(&mut found)?;
                if current == file.sha256 {
                    None
                } else if self.state.is_ours(path, &current) {
                    Some(Action::Replace(stamp))
                } else {
                    self.beside(path, file, last_part(path))
                }
            }
            // A directory of the student in place of the file, or a file in place of one of its directories.
            Entry::Blocked(part) if part < last_part(path) && self.state.is_deleted_by_student(path) => None,
            Entry::Blocked(part) => self.beside(path, file, part),
        })
    }

    /// The change of a path that both changed; none if the student already has the teacher's version beside the file.
    fn beside(&mut self, path: &str, file: &FileEntry, part: usize) -> Option<Action> {
        // The teacher did not change it since the last delivery.
        if self.state.files.get(path) == Some(&file.sha256) {
            return None;
        }
        self.merged.conflicts.push(path.to_owned());
        Some(Action::Beside(part))
    }

    fn digest(&self, file: &mut dyn Read) -> Result<crate::content::Digest, Failure> {
        let mut reader = crate::meter::Metered::new(file, self.meter, u64::MAX, Failure::new(""));
        Ok(digest(&mut reader)?.0)
    }

    fn apply(
        &mut self,
        path: &str,
        file: &FileEntry,
        action: Action,
        journal: &mut Journal,
        content: &mut dyn Read,
    ) -> Result<(), Failure> {
        let (directory, part) = (self.store.directory(), self.store.part());
        let mut out = directory.create(&part, file.is_executable)?;
        let size = pieces(content, |piece| {
            self.meter.advance()?;
            out.write_all(piece)
        })?;
        drop(out);
        if size != file.size {
            return Err(Failure::new(format!("The content of {path} is incomplete: launch the workshop again.")));
        }
        let blocked = match action {
            Action::Place => {
                journal.record(path, Some(&file.sha256))?;
                self.target.place(directory, &part, path)?
            }
            Action::Replace(stamp) => {
                journal.record(path, Some(&file.sha256))?;
                (!self.target.replace(directory, &part, path, stamp)?).then(|| last_part(path))
            }
            Action::Beside(blocked) => return self.place_beside(path, file, blocked),
        };
        match blocked {
            None => self.merged.changes += 1,
            // The student changed the file since the decision.
            Some(blocked) => {
                self.merged.conflicts.push(path.to_owned());
                self.place_beside(path, file, blocked)?;
            }
        }
        Ok(())
    }

    /// Moves the written file beside the student's, to a name that no entry has.
    fn place_beside(&mut self, path: &str, file: &FileEntry, part: usize) -> Result<(), Failure> {
        let (directory, written) = (self.store.directory(), self.store.part());
        for attempt in 1..=ATTEMPTS {
            let name = beside(path, part, self.version, attempt);
            // A killed run may have placed it.
            if let Entry::File(mut found, stamp) = self.target.entry(&name)?
                && stamp.size == file.size
                && self.digest(&mut found)? == file.sha256
            {
                return Ok(directory.remove(&written)?);
            }
            if self.target.place(directory, &written, &name)?.is_none() {
                return Ok(());
            }
        }
        Err(Failure::new(format!("{path} has too many files beside it: delete those with \"from teacher\".")))
    }
}
