//! Archives `zip`.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::listing::{Listing, broken};
use crate::content::{Content, Manifest, Receive};
use crate::failure::Failure;
use crate::limits::Limits;

/// Bytes of the record at the end of an archive, and of its longest comment.
const END_BYTES: u64 = 22 + 65_535;
/// Beginning of this record, and of the one that locates it in large archives.
const END: &[u8] = b"PK\x05\x06";
const LARGE_END: &[u8] = b"PK\x06\x06";
/// Type of a file in its mode, and that of links.
const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const REGULAR: u32 = 0o100_000;

/// Zip archive.
pub(super) struct Zip<'a> {
    archive: ZipArchive<BufReader<File>>,
    list: Listing<'a>,
    manifest: Manifest,
}

impl<'a> Zip<'a> {
    /// Lists the files of an archive.
    pub(super) fn open(mut file: File, list: Listing<'a>) -> Result<Self, Failure> {
        check_count(&mut file, list.limits)?;
        file.seek(SeekFrom::Start(0))?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| broken(&error))?;
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

/// Checks the number of entries that the end of the archive states: the library reads the list of all into memory.
fn check_count(file: &mut File, limits: &Limits) -> Result<(), Failure> {
    let size = file.seek(SeekFrom::End(0))?;
    // The record of large archives is before the other one.
    let length = size.min(END_BYTES + 1024);
    file.seek(SeekFrom::Start(size - length))?;
    let mut end = Vec::new();
    file.take(length).read_to_end(&mut end)?;
    let number = |record: &[u8], from: usize, bytes: usize| {
        let digits = record.get(from..from + bytes)?;
        Some(digits.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    for start in 0..end.len() {
        let record = end.get(start..).unwrap_or_default();
        let counts = match record {
            _ if record.starts_with(END) => [number(record, 8, 2), number(record, 10, 2)],
            _ if record.starts_with(LARGE_END) => [number(record, 24, 8), number(record, 32, 8)],
            _ => continue,
        };
        for count in counts.into_iter().flatten() {
            limits.check_files(usize::try_from(count).unwrap_or(usize::MAX) / 2)?;
        }
    }
    Ok(())
}

/// Content whose errors are those of a damaged archive.
struct Damaged<'a, 'f, R: Read>(&'a mut ZipFile<'f, R>);

impl<R: Read> Read for Damaged<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| broken(&error).into())
    }
}
