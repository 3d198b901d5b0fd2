//! Git repositories: one commit, without its history.
//!
//! Nothing of a repository is executed or interpreted: there is no checkout, no hook, no filter, no configuration. Files
//! are copied out of the received objects.

mod chain;
mod objects;
mod pack;
mod packet;
mod remote;
mod tree;

use std::fs::File;
use std::io::Read;

use gix_hash::ObjectId;

use crate::content::{Content, Manifest, Receive};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::web::Web;

use objects::Objects;
use remote::{Remote, Wanted};
use tree::Files;

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
        let commit = tree::commit(&mut objects, self.object)?;
        let files = tree::files(&mut objects, commit, folder, limits, meter)?;
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
            let id = self.files.contents.get(file.position).ok_or_else(pack::broken)?;
            self.objects.file(id, |content: &mut dyn Read| receive(path, file, content))?;
        }
        Ok(())
    }
}
