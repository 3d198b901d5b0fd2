//! Archives: zip, tar and tar.gz.
//!
//! The files are read twice: first to check all paths and limits and to know all digests, then to place them. A source
//! that exceeds a limit therefore changes no file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entry, EntryType, PaxExtensions};
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

use crate::content::{Content, FileEntry, Manifest, Receive, digest};
use crate::failure::{Failure, find};
use crate::limits::{Limits, PATH_BYTES, ZIP_END_BYTES};
use crate::meter::{Meter, Metered, pieces};
use crate::space::Growth;
use crate::web::Web;
use crate::{path, space, web};

/// Position of the magic word of a tar archive, and the word.
const USTAR: (usize, &[u8]) = (257, b"ustar");

/// Downloads an archive to a file, and compares its SHA-256.
///
/// # Errors
/// The server cannot be reached, the archive is another one, or the disk is too full for it.
pub(crate) fn download(web: &Web<'_>, url: &str, sha256: &str, file: &File, limits: &Limits) -> Result<(), Failure> {
    let found = fetch(web, url, file, limits)?;
    if found == sha256.to_ascii_lowercase() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "The archive has the SHA-256 {found}, not that of the template: the teacher must check the file, and then the template."
    )))
}

/// Downloads an archive to a file, and returns its SHA-256.
///
/// # Errors
/// The server cannot be reached, or the disk is too full for the archive.
pub(crate) fn fetch(web: &Web<'_>, url: &str, file: &File, limits: &Limits) -> Result<String, Failure> {
    let mut body = web.get(&web::parse(url)?, &[("Accept", "*/*")])?.body;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let mut hasher = Sha256::new();
    let mut growth = Growth::new(file, limits);
    pieces(&mut body, |piece| {
        growth.add(piece.len())?;
        hasher.update(piece);
        out.write_all(piece)
    })?;
    out.flush()?;
    Ok(hex::encode(hasher.finalize()))
}

/// Opens a downloaded archive, and lists its files.
///
/// # Errors
/// The archive is invalid, has an invalid path, or exceeds a limit.
pub(crate) fn open<'a>(
    file: File,
    folder: Option<&'a str>,
    limits: &'a Limits,
    meter: &'a Meter,
) -> Result<Box<dyn Content + 'a>, Failure> {
    let mut start = BufReader::with_capacity(1024, space::reopen(&file)?);
    let start = start.fill_buf()?;
    let list = Listing { folder, limits, meter };
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return Ok(Box::new(Zip::open(file, list)?));
    }
    let is_compressed = start.starts_with(&[0x1f, 0x8b]);
    if is_compressed || start.get(USTAR.0..).is_some_and(|rest| rest.starts_with(USTAR.1)) {
        return Ok(Box::new(Tarball::open(file, is_compressed, list)?));
    }
    Err(Failure::new("The file is no zip, tar or tar.gz archive: the teacher must use one of these."))
}

/// Failure of an archive with invalid bytes.
fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("The archive is damaged ({error}): the teacher must create it again."))
}

/// Rules of a list of files.
#[derive(Debug, Clone, Copy)]
struct Listing<'a> {
    folder: Option<&'a str>,
    limits: &'a Limits,
    meter: &'a Meter,
}

impl<'a> Listing<'a> {
    /// Returns the path below the folder; `None` if the entry is omitted or is outside of it.
    fn path(&self, bytes: &[u8], manifest: &mut Manifest) -> Result<Option<String>, Failure> {
        match path::check(bytes)? {
            Some(path) => Ok(path::below(&path, self.folder).map(str::to_owned)),
            None => {
                // Many archives have an entry for their top directory.
                manifest.omitted.names += usize::from(!matches!(bytes, b"." | b"./"));
                Ok(None)
            }
        }
    }

    /// Reads a file, and adds it to the list.
    fn add(
        &self,
        path: String,
        content: &mut dyn Read,
        (is_executable, position): (bool, usize),
        manifest: &mut Manifest,
    ) -> Result<(), Failure> {
        // One byte more than permitted shows that a file is too large.
        let most = self.limits.file_bytes.saturating_add(1);
        let mut content = Metered::new(content, self.meter, u64::MAX, self.limits.too_large()).take(most);
        let (sha256, size) = digest(&mut content)?;
        manifest.add(path, FileEntry { sha256, size, is_executable, position }, self.limits)
    }
}

/// Signature of an entry of the central directory.
const ZIP_ENTRY: &[u8] = b"PK\x01\x02";
/// Beginning of the record at the end of an archive, and of the one in large archives.
const ZIP_END: &[u8] = b"PK\x05\x06";
const ZIP_LARGE_END: &[u8] = b"PK\x06\x06";

/// Reader of a zip archive, which limits the memory for its central directory. The library reads the whole central
/// directory into memory. This reader therefore counts its entries and bytes while the library reads them.
#[derive(Debug)]
struct Guarded {
    inner: BufReader<File>,
    limits: Limits,
    /// False once the list is complete: the rest is content of files.
    is_active: Rc<Cell<bool>>,
    entries: usize,
    bytes: u64,
}

impl Guarded {
    /// Checks what the library reads in one step: each record is one.
    fn check(&mut self, record: &[u8]) -> Result<(), Failure> {
        self.bytes += record.len() as u64;
        if self.bytes > ZIP_END_BYTES {
            return Err(Failure::new("The archive has a list of files that is too long: choose a smaller source."));
        }
        self.entries += usize::from(record.starts_with(ZIP_ENTRY));
        let mut counts = [Some(self.entries as u64), None];
        if record.starts_with(ZIP_END) {
            counts = [number(record, 8, 2), number(record, 10, 2)];
        } else if record.starts_with(ZIP_LARGE_END) {
            counts = [number(record, 24, 8), number(record, 32, 8)];
        }
        // The list has directories, too.
        let mut counts = counts.into_iter().flatten();
        counts.try_for_each(|count| self.limits.check_files(usize::try_from(count).unwrap_or(usize::MAX) / 2))
    }
}

fn number(record: &[u8], from: usize, bytes: usize) -> Option<u64> {
    let digits = record.get(from..from + bytes)?;
    Some(digits.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_active.get() {
            return self.inner.read(buffer);
        }
        // A record may not begin in one read and end in the next one.
        let mut length = 0;
        while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.inner.read(rest)? {
                0 => break,
                bytes => length += bytes,
            }
        }
        self.check(buffer.get(..length).unwrap_or_default())?;
        Ok(length)
    }
}

impl Seek for Guarded {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}

/// Type of a file in its mode, and that of links.
const MODE_TYPE: u32 = 0o170_000;
const MODE_LINK: u32 = 0o120_000;
const MODE_REGULAR: u32 = 0o100_000;

struct Zip<'a> {
    archive: ZipArchive<Guarded>,
    list: Listing<'a>,
    manifest: Manifest,
}

impl<'a> Zip<'a> {
    /// Lists the files of an archive.
    fn open(file: File, list: Listing<'a>) -> Result<Self, Failure> {
        let is_active = Rc::new(Cell::new(true));
        let (inner, limits) = (BufReader::new(file), *list.limits);
        let guarded = Guarded { inner, limits, is_active: Rc::clone(&is_active), entries: 0, bytes: 0 };
        // The archive begins with the file. The search for another beginning would need much memory.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let archive = ZipArchive::with_config(config, guarded).map_err(zip_failure)?;
        is_active.set(false);
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
        let mode = file.unix_mode().unwrap_or(MODE_REGULAR | 0o644);
        if mode & MODE_TYPE == MODE_LINK {
            manifest.omitted.links += 1;
            return Ok(());
        }
        let Some(path) = list.path(file.name_raw(), manifest)? else { return Ok(()) };
        if file.is_dir() {
            return manifest.add_directory(path, list.limits);
        }
        if ![0, MODE_REGULAR].contains(&(mode & MODE_TYPE)) {
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
fn zip_failure(error: zip::result::ZipError) -> Failure {
    match &error {
        zip::result::ZipError::Io(inner) => find(inner).cloned().unwrap_or_else(|| broken(&error)),
        _ => broken(&error),
    }
}

/// Maximum bytes of an entry that describes the next one.
const DESCRIPTION_BYTES: u64 = 64 << 10;

/// Tar archive.
struct Tarball<'a> {
    file: File,
    is_compressed: bool,
    list: Listing<'a>,
    manifest: Manifest,
}

/// What an entry is.
enum Item {
    File { is_executable: bool },
    Directory,
    Link,
    Other,
}

impl<'a> Tarball<'a> {
    /// Lists the files of an archive.
    fn open(file: File, is_compressed: bool, list: Listing<'a>) -> Result<Self, Failure> {
        let mut manifest = Manifest::default();
        tar_entries(&file, is_compressed, list, |position, name, item, content| {
            match item {
                Item::Link => manifest.omitted.links += 1,
                Item::Other => manifest.omitted.others += 1,
                Item::Directory => {
                    if let Some(path) = list.path(name, &mut manifest)? {
                        manifest.add_directory(path, list.limits)?;
                    }
                }
                Item::File { is_executable } => {
                    if let Some(path) = list.path(name, &mut manifest)? {
                        list.add(path, content, (is_executable, position), &mut manifest)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(Self { file, is_compressed, list, manifest: manifest.complete(list.folder)? })
    }
}

impl Content for Tarball<'_> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn read(&mut self, wanted: &dyn Fn(&str) -> bool, receive: &mut Receive<'_>) -> Result<(), Failure> {
        let (list, files) = (self.list, self.manifest.files());
        let mut unused = Manifest::default();
        tar_entries(&self.file, self.is_compressed, list, |position, name, item, content| {
            let Item::File { .. } = item else { return Ok(()) };
            let Some(path) = list.path(name, &mut unused)? else { return Ok(()) };
            match files.get(&path) {
                // An earlier entry of the same path has another position.
                Some(file) if file.position == position && wanted(&path) => receive(&path, file, content),
                _ => Ok(()),
            }
        })
    }
}

/// Calls a function for each entry: with its position, name and content. Long names and extensions are read here with a limit:
/// the library would read them completely.
fn tar_entries(
    file: &File,
    is_compressed: bool,
    list: Listing<'_>,
    mut each: impl FnMut(usize, &[u8], Item, &mut dyn Read) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let file = BufReader::with_capacity(256 << 10, space::reopen(file)?);
    let reader: Box<dyn Read> = if is_compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    // The headers and the padding of the last blocks add to the size of the content.
    let most = list.limits.total_bytes.saturating_add(list.limits.files as u64 * 4096);
    let reader = Metered::new(reader, list.meter, most, list.limits.too_large());
    let mut archive = Archive::new(reader);
    let (mut long_name, mut long_size) = (None, None);
    let entries = archive.entries().map_err(tar_failure)?.raw(true);
    for (position, entry) in entries.enumerate() {
        let mut entry = entry.map_err(tar_failure)?;
        list.limits.check_files(position / 4)?;
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let name = description(&mut entry)?;
                long_name = Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
                continue;
            }
            EntryType::XHeader => {
                let extensions = description(&mut entry)?;
                let (path, size) = path_and_size(&extensions)?;
                (long_name, long_size) = (path.or(long_name), size.or(long_size));
                continue;
            }
            EntryType::XGlobalHeader | EntryType::GNULongLink => continue,
            _ => {}
        }
        let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let item = tar_item(&entry, &name);
        // Programs write a size here if the header has no room for it, and such a file is too large. Any other difference
        // would place another file than `tar` extracts.
        if let Some(size) = long_size.take() {
            list.limits.check_file(&String::from_utf8_lossy(&name).escape_debug().to_string(), size)?;
            if entry.header().entry_size().map_err(tar_failure)? != size {
                return Err(broken(&"an entry has two sizes"));
            }
        }
        each(position, &name, item, &mut Damaged(&mut entry))?;
    }
    Ok(())
}

fn tar_item(entry: &Entry<'_, impl Read>, name: &[u8]) -> Item {
    match entry.header().entry_type() {
        EntryType::Directory => Item::Directory,
        // Archives of old programs mark a directory by the slash alone.
        EntryType::Regular if name.ends_with(b"/") => Item::Directory,
        EntryType::Regular | EntryType::Continuous => {
            Item::File { is_executable: entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0) }
        }
        EntryType::Symlink | EntryType::Link => Item::Link,
        _ => Item::Other,
    }
}

/// Reads an entry that describes the next one.
fn description(entry: &mut dyn Read) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    entry.take(DESCRIPTION_BYTES).read_to_end(&mut content).map_err(tar_failure)?;
    Ok(content)
}

/// Returns the path and the size in extensions of the POSIX format.
fn path_and_size(extensions: &[u8]) -> Result<(Option<Vec<u8>>, Option<u64>), Failure> {
    let (mut path, mut size) = (None, None);
    for extension in PaxExtensions::new(extensions) {
        let extension = extension.map_err(tar_failure)?;
        let value = extension.value_bytes();
        match extension.key_bytes() {
            b"path" => path = Some(value.get(..value.len().min(PATH_BYTES + 1)).unwrap_or_default().to_vec()),
            b"size" => size = Some(extension.value().ok().and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)),
            _ => {}
        }
    }
    Ok((path, size))
}

/// Returns an error of the library as a failure.
fn tar_failure(error: io::Error) -> Failure {
    match find(&error) {
        Some(failure) => failure.clone(),
        None => broken(&error),
    }
}

/// Content whose errors are those of a damaged archive.
struct Damaged<'a>(&'a mut dyn Read);

impl Read for Damaged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| tar_failure(error).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tests::read_as_listed;

    fn read(bytes: &[u8]) -> Result<(), Failure> {
        let limits = Limits { total_bytes: 1 << 20, file_bytes: 1 << 19, files: 100, ..Limits::default() };
        let (mut file, meter) = (tempfile::tempfile()?, Meter::default());
        file.write_all(bytes)?;
        let mut content = open(file, None, &limits, &meter)?;
        read_as_listed(&mut *content, &limits).unwrap();
        Ok(())
    }

    #[test]
    fn any_zip_archive_is_read_as_listed_or_refused() {
        let name = "any_zip_archive_is_read_as_listed_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 40_000, |bytes| drop(read(bytes)));
    }

    #[test]
    fn any_tar_archive_is_read_as_listed_or_refused() {
        let name = "any_tar_archive_is_read_as_listed_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 40_000, |bytes| drop(read(bytes)));
    }
}
