//! Archives `zip`.

use std::fs::File;
use std::io::Read;

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config, ZipFile};

use super::guarded::Guarded;
use super::listing::{Listing, broken};
use crate::content::{Content, Manifest, Receive};
use crate::failure::{Failure, find};

/// Type of a file in its mode, and that of links.
const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const REGULAR: u32 = 0o100_000;

/// Zip archive.
pub(super) struct Zip<'a> {
    archive: ZipArchive<Guarded>,
    list: Listing<'a>,
    manifest: Manifest,
}

impl<'a> Zip<'a> {
    /// Lists the files of an archive.
    pub(super) fn open(file: File, list: Listing<'a>) -> Result<Self, Failure> {
        let (guarded, guard) = Guarded::new(file, list.limits);
        // The archive begins with the file. The search for another beginning would need much memory.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let archive = ZipArchive::with_config(config, guarded).map_err(translated)?;
        guard.end();
        let mut zip = Self { archive, list, manifest: Manifest::default() };
        for position in 0..zip.archive.len() {
            zip.add(position)?;
        }
        zip.manifest = zip.manifest.complete(list.folder)?;
        Ok(zip)
    }

    fn add(&mut self, position: usize) -> Result<(), Failure> {
        let (list, manifest) = (self.list, &mut self.manifest);
        let mut file = self.archive.by_index(position).map_err(|error| broken(&error))?;
        let mode = file.unix_mode().unwrap_or(REGULAR | 0o644);
        if mode & TYPE == LINK {
            manifest.omitted.links += 1;
            return Ok(());
        }
        let Some(path) = list.path(file.name_raw(), manifest)? else { return Ok(()) };
        if file.is_dir() {
            return manifest.add_directory(path, list.limits);
        }
        if ![0, REGULAR].contains(&(mode & TYPE)) {
            manifest.omitted.others += 1;
            return Ok(());
        }
        list.limits.check_file(&path, file.size())?;
        list.add(path, &mut Damaged(&mut file), (mode & 0o100 != 0, position), manifest)
    }
}

impl Content for Zip<'_> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure> {
        for (path, entry) in self.manifest.files() {
            if wanted(path) {
                let mut file = self.archive.by_index(entry.position).map_err(|error| broken(&error))?;
                receive(path, entry, &mut Damaged(&mut file))?;
            }
        }
        Ok(())
    }
}

/// Returns an error of the library as a failure.
fn translated(error: zip::result::ZipError) -> Failure {
    match &error {
        zip::result::ZipError::Io(inner) => find(inner).cloned().unwrap_or_else(|| broken(&error)),
        _ => broken(&error),
    }
}

/// Content whose errors are those of a damaged archive.
struct Damaged<'a, 'f, R: Read>(&'a mut ZipFile<'f, R>);

impl<R: Read> Read for Damaged<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| broken(&error).into())
    }
}
