//! Archives `tar` and `tar.gz`.

use std::fs::File;
use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::listing::{Listing, broken};
use crate::content::{Content, Manifest, Receive};
use crate::failure::Failure;
use crate::limits::PATH_BYTES;
use crate::meter::Metered;
use crate::scratch;

/// Maximum bytes of an entry that describes the next one.
const DESCRIPTION_BYTES: u64 = 64 << 10;

/// Tar archive.
pub(super) struct Tarball<'a> {
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
    pub(super) fn open(file: File, is_compressed: bool, list: Listing<'a>) -> Result<Self, Failure> {
        let mut manifest = Manifest::default();
        entries(&file, is_compressed, list, |position, name, item, content| {
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
        entries(&self.file, self.is_compressed, list, |position, name, item, content| {
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

/// Calls a function for each entry: with its position, name and content.
fn entries(
    file: &File,
    is_compressed: bool,
    list: Listing<'_>,
    each: impl FnMut(usize, &[u8], Item, &mut dyn Read) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let file = BufReader::with_capacity(256 << 10, scratch::reopen(file)?);
    if is_compressed { raw_entries(MultiGzDecoder::new(file), list, each) } else { raw_entries(file, list, each) }
}

/// Long names and extensions are read here with a limit: the library would read them completely.
fn raw_entries(
    reader: impl Read,
    list: Listing<'_>,
    mut each: impl FnMut(usize, &[u8], Item, &mut dyn Read) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // The headers and the padding of the last blocks add to the size of the content.
    let most = list.limits.total_bytes.saturating_add(list.limits.files as u64 * 4096);
    let reader = Metered::new(reader, list.meter, most, list.limits.too_large());
    let mut archive = Archive::new(reader);
    let mut long_name = None;
    let entries = archive.entries().map_err(translated)?.raw(true);
    for (position, entry) in entries.enumerate() {
        let mut entry = entry.map_err(translated)?;
        list.limits.check_files(position / 4)?;
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let name = description(&mut entry)?;
                long_name = Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
                continue;
            }
            EntryType::XHeader => {
                let extensions = description(&mut entry)?;
                long_name = path_of(&extensions)?.or(long_name);
                continue;
            }
            EntryType::XGlobalHeader | EntryType::GNULongLink => continue,
            _ => {}
        }
        let name = long_name.take().unwrap_or_else(|| entry.path_bytes().into_owned());
        let item = item(&entry, &name);
        each(position, &name, item, &mut Damaged(&mut entry))?;
    }
    Ok(())
}

fn item(entry: &Entry<'_, impl Read>, name: &[u8]) -> Item {
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
    entry.take(DESCRIPTION_BYTES).read_to_end(&mut content).map_err(translated)?;
    Ok(content)
}

/// Returns the path in extensions of the POSIX format.
fn path_of(extensions: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    for extension in PaxExtensions::new(extensions) {
        let extension = extension.map_err(translated)?;
        if extension.key_bytes() == b"path" {
            let path = extension.value_bytes();
            return Ok(Some(path.get(..path.len().min(PATH_BYTES + 1)).unwrap_or_default().to_vec()));
        }
    }
    Ok(None)
}

/// Returns an error of the library as a failure.
fn translated(error: std::io::Error) -> Failure {
    match crate::failure::find(&error) {
        Some(failure) => failure.clone(),
        None => broken(&error),
    }
}

/// Content whose errors are those of a damaged archive.
struct Damaged<'a>(&'a mut dyn Read);

impl Read for Damaged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| translated(error).into())
    }
}
