//! Git repositories: one commit, without its history.
//!
//! Nothing of a repository is executed or interpreted: there is no checkout, no hook, no filter, no configuration. Files
//! are copied out of the received objects.

mod objects;
mod pack;
mod remote;

use std::fs::File;
use std::io::Read;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_object::{CommitRefIter, Kind, TagRefIter, TreeRefIter};

use crate::content::{Content, FileEntry, Manifest, Receive};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::path;
use crate::web::Web;

use objects::Objects;
use pack::broken;
use remote::{Remote, Wanted};

/// Repository with the commit to place.
#[derive(Debug)]
pub(crate) struct Repository<'w, 'm> {
    web: &'w Web<'m>,
    url: &'w str,
    /// Connection to the git server; `None` if the server was not asked for the commit.
    remote: Option<Remote<'w, 'm>>,
    wanted: Wanted,
}

impl<'w, 'm> Repository<'w, 'm> {
    /// Finds the commit of a reference. The server is not asked for a full commit id.
    ///
    /// # Errors
    /// The server cannot be reached, or does not have the reference.
    pub(crate) fn find(web: &'w Web<'m>, url: &'w str, reference: Option<&str>) -> Result<Self, Failure> {
        let id = reference.and_then(|reference| ObjectId::from_hex(reference.as_bytes()).ok());
        if let Some(id) = id {
            return Ok(Self { web, url, remote: None, wanted: Wanted { object: id, commit: id } });
        }
        let remote = Remote::open(web, url)?;
        let wanted = remote.find(reference)?;
        Ok(Self { web, url, remote: Some(remote), wanted })
    }

    /// Returns the name of the default branch, if the server says it.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) fn default_branch(&self) -> Result<Option<String>, Failure> {
        self.remote.as_ref().map_or(Ok(None), Remote::default_branch)
    }

    /// Commit id in hexadecimal digits.
    #[must_use]
    pub(crate) fn version(&self) -> String {
        self.wanted.commit.to_string()
    }

    /// Receives the commit into a file.
    ///
    /// # Errors
    /// The server cannot be reached or sends an invalid answer, or a limit is exceeded.
    pub(crate) fn receive(self, file: File, limits: &Limits, meter: &Meter) -> Result<Pack, Failure> {
        let remote = match self.remote {
            Some(remote) => remote,
            None => Remote::open(self.web, self.url)?,
        };
        let received = pack::receive(remote.pack(self.wanted.object)?, &file, limits, meter)?;
        Ok(Pack { file, received, object: self.wanted.object })
    }
}

/// Received commit, whose objects are not unpacked yet.
#[derive(Debug)]
pub(crate) struct Pack {
    file: File,
    received: pack::Received,
    object: ObjectId,
}

impl Pack {
    /// Unpacks the directories of the commit. This needs the most memory.
    ///
    /// # Errors
    /// The commit is invalid, or a limit is exceeded.
    pub(crate) fn open<'m>(
        self,
        folder: Option<&str>,
        limits: &Limits,
        meter: &'m Meter,
    ) -> Result<Checkout<'m>, Failure> {
        let mut objects = Objects::open(&self.file, self.received, limits, meter)?;
        let commit = find_commit(&mut objects, self.object)?;
        let files = list_files(&mut objects, commit, folder, limits, meter)?;
        Ok(Checkout { objects, files })
    }
}

/// Files of a commit.
pub(crate) struct Checkout<'m> {
    objects: Objects<'m>,
    files: Files,
}

impl Content for Checkout<'_> {
    fn manifest(&self) -> &Manifest {
        &self.files.manifest
    }

    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure> {
        for (path, file) in self.files.manifest.files() {
            if !wanted(path) {
                continue;
            }
            let id = self.files.contents.get(file.position).ok_or_else(broken)?;
            self.objects.file(id, |content: &mut dyn Read| receive(path, file, content))?;
        }
        Ok(())
    }
}

const SHA1: gix_hash::Kind = gix_hash::Kind::Sha1;
/// Maximum tags of tags.
const TAGS: usize = 5;

/// Files of one commit, and the objects with their contents.
#[derive(Debug, Default)]
struct Files {
    /// The list of files. `position` is the index in `contents`.
    manifest: Manifest,
    /// Objects with the contents.
    contents: Vec<ObjectId>,
}

/// Returns the commit that an object names: the commit itself, or that of an annotated tag.
fn find_commit(objects: &mut Objects<'_>, object: ObjectId) -> Result<ObjectId, Failure> {
    let mut id = object;
    for _ in 0..TAGS {
        match objects.kind(&id) {
            Some(Kind::Commit) => return Ok(id),
            Some(Kind::Tag) => {
                let content = objects.small(&id, Kind::Tag)?;
                id = TagRefIter::from_bytes(&content, SHA1).target_id().map_err(|_| broken())?;
            }
            Some(_) => return Err(Failure::new("The reference names no commit: choose a branch, a tag or a commit.")),
            None => return Err(broken()),
        }
    }
    Err(broken())
}

/// Lists the files of a commit below a folder.
///
/// # Errors
/// The folder does not exist, a path is invalid, or a limit is exceeded.
fn list_files(
    objects: &mut Objects<'_>,
    commit: ObjectId,
    folder: Option<&str>,
    limits: &Limits,
    meter: &Meter,
) -> Result<Files, Failure> {
    let content = objects.small(&commit, Kind::Commit)?;
    let mut root = CommitRefIter::from_bytes(&content, SHA1).tree_id().map_err(|_| broken())?;
    for name in folder.iter().flat_map(|folder| folder.split('/')) {
        root = enter(objects, root, name)?;
    }
    let mut files = Files::default();
    let mut open = vec![(String::new(), root)];
    let mut directories = 0;
    while let Some((prefix, id)) = open.pop() {
        meter.advance()?;
        directories += 1;
        limits.check_files(directories)?;
        let content = objects.small(&id, Kind::Tree)?;
        for entry in TreeRefIter::from_bytes(&content, SHA1) {
            let entry = entry.map_err(|_| broken())?;
            if let Some(directory) = files.add(objects, &prefix, &entry, limits)? {
                open.push((directory, entry.oid.to_owned()));
            }
        }
    }
    files.manifest = files.manifest.complete(folder)?;
    Ok(files)
}

fn enter(objects: &mut Objects<'_>, id: ObjectId, name: &str) -> Result<ObjectId, Failure> {
    let content = objects.small(&id, Kind::Tree)?;
    let entries = TreeRefIter::from_bytes(&content, SHA1).filter_map(Result::ok);
    let mut found = entries.filter(|entry| entry.mode.is_tree() && entry.filename == name);
    let missing = || Failure::new(format!("The repository has no folder {name}: check the folder."));
    found.next().map(|entry| entry.oid.to_owned()).ok_or_else(missing)
}

impl Files {
    /// Adds an entry of a directory. Returns the path of a directory.
    fn add(
        &mut self,
        objects: &Objects<'_>,
        prefix: &str,
        entry: &gix_object::tree::EntryRef<'_>,
        limits: &Limits,
    ) -> Result<Option<String>, Failure> {
        let name: &[u8] = entry.filename;
        if name.contains(&b'/') || matches!(name, b"" | b".") {
            return Err(Failure::new("The repository has a file with an invalid name: the teacher must remove it."));
        }
        let mut bytes = prefix.as_bytes().to_vec();
        bytes.extend_from_slice(name);
        let Some(path) = path::check(&bytes)? else {
            self.manifest.omitted.names += 1;
            return Ok(None);
        };
        let kind = entry.mode.kind();
        match kind {
            EntryKind::Tree => {
                self.manifest.count_path(&path, limits)?;
                return Ok(Some(format!("{path}/")));
            }
            EntryKind::Link => self.manifest.omitted.links += 1,
            EntryKind::Commit => self.manifest.omitted.submodules += 1,
            EntryKind::Blob | EntryKind::BlobExecutable => {
                if self.manifest.files().contains_key(&path) {
                    return Err(Failure::new(format!("The repository has two files of one name: {path}.")));
                }
                let located = objects.locate(entry.oid, Kind::Blob)?;
                let (sha256, size, position) = (located.sha256, located.size, self.contents.len());
                let is_executable = kind == EntryKind::BlobExecutable;
                self.contents.push(entry.oid.to_owned());
                self.manifest.add(path, FileEntry { sha256, size, is_executable, position }, limits)?;
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tests::read_as_listed;

    /// Reads the first commit or tag of a pack.
    fn read(bytes: &[u8]) -> Result<(), Failure> {
        let limits = Limits {
            total_bytes: 1 << 20,
            file_bytes: 1 << 18,
            files: 100,
            objects: 1000,
            difference_bytes: 1 << 16,
            ..Limits::default()
        };
        let (file, meter) = (tempfile::tempfile()?, Meter::default());
        let received = pack::receive(bytes, &file, &limits, &meter)?;
        let commits = received.objects.iter().filter(|(_, found)| matches!(found.kind, Kind::Commit | Kind::Tag));
        let object = commits.map(|(id, _)| *id).min().unwrap_or(SHA1.null());
        read_as_listed(&mut Pack { file, received, object }.open(None, &limits, &meter)?, &limits)
    }

    #[test]
    fn any_pack_is_read_as_listed_or_refused() {
        let name = "any_pack_is_read_as_listed_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 40_000, |bytes| drop(read(bytes)));
    }
}
