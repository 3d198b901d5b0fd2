//! Converts the tar archive of a volume to the archive that users download. Reads a tar archive from an untrusted source
//! with a constant amount of memory.
//!
//! The `tar` crate has no limit for the length of a name: it reads the whole name into memory. An app may send any bytes
//! as an archive. The reader in this file therefore limits every part that it keeps. Format: POSIX `pax`, chapter "pax
//! Interchange Format", and the long names of GNU tar.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use launcher_fleet::{ByteStream, written_by};
use tar::{Builder, EntryType, Header, PaxExtensions};
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};

use crate::zip::{ZipEntry, ZipWriter};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// Tar archive, compressed with gzip.
    #[default]
    TarGz,
    /// Zip archive. It has no links, and at most as many files as fit in its directory of 1 MiB.
    Zip,
}

/// Converts an archive to this format while it is read.
pub(crate) fn to_format(tar: ByteStream, format: ArchiveFormat) -> ByteStream {
    match format {
        ArchiveFormat::TarGz => to_download(tar),
        ArchiveFormat::Zip => converted(tar, |tar, out| zip(tar, out)),
    }
}

/// Converts a saved archive to this format while it is read.
pub(crate) fn saved_to_format(saved: ByteStream, format: ArchiveFormat) -> ByteStream {
    match format {
        ArchiveFormat::TarGz => saved,
        ArchiveFormat::Zip => converted(saved, |saved, out| zip(GzDecoder::new(saved), out)),
    }
}

/// Converts an archive on a thread for blocking work, while it is read.
fn converted(
    archive: ByteStream,
    convert: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()> + Send + 'static,
) -> ByteStream {
    let handle = Handle::current();
    written_by(move |out| convert(&mut SyncIoBridge::new_with_handle(StreamReader::new(archive), handle), out))
}

fn zip(tar: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let (mut entries, mut zip) = (Entries::new(tar), ZipWriter::new(out));
    while let Some(entry) = entries.next()? {
        let Some(path) = relative(&entry.path) else { continue };
        let (mut path, mut size) = (path.to_string_lossy().into_owned(), entry.size);
        match entry.header.entry_type() {
            EntryType::Directory => {
                path.push('/');
                size = 0;
            }
            EntryType::Regular | EntryType::Continuous => {}
            _ => continue,
        }
        let (mode, modified) = (entry.header.mode().unwrap_or(0o644), entry.header.mtime().unwrap_or_default());
        // Programs on Windows take a backslash for a separator, also in `..\\`, and a colon for the end of a drive's name.
        let path = path.replace(|letter: char| "\\:".contains(letter) || letter.is_control(), "_");
        zip.add(&ZipEntry { path: &path, mode, modified, size }, &mut entries.content(size))?;
    }
    // The checksum of a saved archive is at its end. A damaged one must not become a complete zip archive.
    io::copy(&mut entries.source, &mut io::sink())?;
    zip.finish()
}

/// Maximum bytes of the files with which a workshop starts: a saved archive can be much smaller than its files.
const RESTORED_BYTES: u64 = 20 << 30;
/// Maximum number of files and directories with which a workshop starts.
const RESTORED_ENTRIES: usize = 1_000_000;

/// Converts a saved archive to a tar archive without compression, with the same rules.
pub(crate) fn to_files(saved: ByteStream) -> ByteStream {
    converted(saved, |saved, out| files(GzDecoder::new(saved), out, (RESTORED_BYTES, RESTORED_ENTRIES)))
}

fn files(tar: impl Read, out: &mut dyn Write, (most_bytes, most_entries): (u64, usize)) -> io::Result<()> {
    let (mut entries, mut files) = (Entries::new(tar), Builder::new(out));
    let (mut bytes, mut count) = (0_u64, 0);
    while let Some(entry) = entries.next()? {
        bytes = bytes.saturating_add(entry.size);
        count += 1;
        if bytes > most_bytes || count > most_entries {
            let problem = "the saved files are too many or too large for a launch: download them";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        add(&mut files, &entry, &mut entries)?;
    }
    // The checksum of the archive is at its end.
    io::copy(&mut entries.source, &mut io::sink())?;
    files.finish()
}

/// Converts an archive while it is read, with a constant amount of memory.
/// The new archive is compressed with gzip. It has files and directories only: links, devices and paths that lead out of
/// the archive are omitted.
pub(crate) fn to_download(tar: ByteStream) -> ByteStream {
    converted(tar, |tar, out| convert(tar, out))
}

fn convert(tar: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let (mut entries, mut download) = (Entries::new(tar), Builder::new(GzEncoder::new(out, Compression::fast())));
    while let Some(entry) = entries.next()? {
        add(&mut download, &entry, &mut entries)?;
    }
    download.into_inner()?.finish()?;
    Ok(())
}

fn add<W: Write>(download: &mut Builder<W>, entry: &Entry, entries: &mut Entries<impl Read>) -> io::Result<()> {
    let Some(path) = relative(&entry.path) else { return Ok(()) };
    let from = &entry.header;
    let mut header = Header::new_gnu();
    // Only the permissions of the mode. The default owner and group: the ones in a workshop mean nothing elsewhere.
    header.set_mode(from.mode().unwrap_or(0o644) & 0o777);
    header.set_mtime(from.mtime().unwrap_or_default());
    header.set_size(0);
    match from.entry_type() {
        EntryType::Directory => {
            header.set_entry_type(EntryType::Directory);
            download.append_data(&mut header, path.join(""), io::empty())
        }
        EntryType::Regular | EntryType::Continuous => {
            header.set_size(entry.size);
            download.append_data(&mut header, path, entries.content(entry.size))
        }
        _ => Ok(()),
    }
}

/// Returns a path in the archive; `None` for the archive's root and for a path that leads out of the archive.
fn relative(path: &Path) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => relative.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!relative.as_os_str().is_empty()).then_some(relative)
}

/// Size of a header, and unit of all lengths, in bytes.
const BLOCK: usize = 512;
/// Maximum size of the description of an entry, in bytes: 16 times the longest path of Linux.
const MAX_DESCRIPTION: u64 = 64 << 10;
/// Bytes of a header that have its checksum, which counts as spaces.
const CHECKSUM: std::ops::Range<usize> = 148..156;

struct Entries<R> {
    source: R,
    /// Bytes of the present entry that are not read yet, with the padding.
    rest: u64,
}

/// One entry. Its content is read from [`Entries::content`].
struct Entry {
    /// Header of the entry itself. Its path and size are not complete.
    header: Header,
    path: PathBuf,
    /// Size of the content, in bytes.
    size: u64,
}

/// Attributes of an entry, from the extension entries before it.
#[derive(Default)]
struct Description {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

impl<R: Read> Entries<R> {
    fn new(source: R) -> Self {
        Self { source, rest: 0 }
    }

    /// Returns the next entry; `None` after the last one. Skips what was not read of the present one.
    fn next(&mut self) -> io::Result<Option<Entry>> {
        let mut description = Description::default();
        loop {
            self.skip()?;
            let Some(header) = self.header()? else { return Ok(None) };
            let size = header.entry_size()?;
            self.rest = padded(size)?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let name = self.description(size)?;
                    description.path = Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
                }
                EntryType::XHeader => self.extend(size, &mut description)?,
                // Skips the names of links, which a download omits, and the defaults for all entries.
                EntryType::GNULongLink | EntryType::XGlobalHeader => {}
                EntryType::GNUSparse => return Err(invalid("it has a sparse file of GNU tar")),
                _ => {
                    let size = description.size.unwrap_or(size);
                    self.rest = padded(size)?;
                    let path = description.path.unwrap_or_else(|| header.path_bytes().into_owned());
                    return Ok(Some(Entry { header, path: OsString::from_vec(path).into(), size }));
                }
            }
        }
    }

    /// Returns the content of the present entry, of this size.
    fn content(&mut self, size: u64) -> Content<'_, R> {
        Content { entries: self, left: size }
    }

    /// Returns a header; `None` at the end of the archive.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let mut block = [0; BLOCK];
        // An archive may end without the two empty blocks.
        if self.source.read(&mut block[..1])? == 0 {
            return Ok(None);
        }
        self.source.read_exact(&mut block[1..])?;
        if block == [0; BLOCK] {
            return Ok(None);
        }
        let header = Header::from_byte_slice(&block).clone();
        let sum: u32 = block
            .iter()
            .enumerate()
            .map(|(at, byte)| u32::from(if CHECKSUM.contains(&at) { b' ' } else { *byte }))
            .sum();
        if header.cksum()? != sum {
            return Err(invalid("the checksum of a header is wrong"));
        }
        Ok(Some(header))
    }

    fn extend(&mut self, size: u64, description: &mut Description) -> io::Result<()> {
        let text = self.description(size)?;
        for extension in PaxExtensions::new(&text) {
            let extension = extension?;
            match extension.key_bytes() {
                b"path" => description.path = Some(extension.value_bytes().to_vec()),
                b"size" => {
                    let size = extension.value().ok().and_then(|size| size.parse().ok());
                    description.size = Some(size.ok_or_else(|| invalid("the size of an entry is no number"))?);
                }
                key if key.starts_with(b"GNU.sparse.") => return Err(invalid("it has a sparse file of GNU tar")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the present entry, which describes the next one.
    fn description(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > MAX_DESCRIPTION {
            return Err(invalid("the name of an entry is too long"));
        }
        let mut text = Vec::new();
        self.content(size).read_to_end(&mut text)?;
        Ok(text)
    }

    /// Skips the rest of the present entry.
    fn skip(&mut self) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(self.rest), &mut io::sink())?;
        if skipped < self.rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.rest = 0;
        Ok(())
    }
}

/// Reader of the content of an entry. An archive that ends before the content does is an error.
struct Content<'a, R> {
    entries: &'a mut Entries<R>,
    left: u64,
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.entries.source.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        self.entries.rest -= read as u64;
        Ok(read)
    }
}

/// Returns the size of a content with its padding.
fn padded(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| invalid("the size of an entry is too large"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive is not usable: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::{Cursor, Read};
    use std::path::Path;

    use tar::{Archive, Builder, EntryType, Header};

    const TIME: u64 = 1_790_000_000;

    fn header(kind: EntryType, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header.set_mode(0o4755);
        header.set_mtime(TIME);
        header
    }

    fn downloaded(tar: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
        let mut download = Vec::new();
        convert(Cursor::new(tar), &mut download).unwrap();
        let mut found = BTreeMap::new();
        for entry in Archive::new(GzDecoder::new(&*download)).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert_eq!((entry.header().mode().unwrap(), entry.header().mtime().unwrap()), (0o755, TIME));
            found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), content);
        }
        found
    }

    #[test]
    fn files_and_directories_are_converted_with_their_content() {
        let mut tar = Builder::new(Vec::new());
        let large = vec![7; 3_000_000];
        let deep = "a/".repeat(80) + "deep";
        tar.append_data(&mut header(EntryType::Directory, 0), "./notes", &[][..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, 5), "./notes/ü 1.txt", &b"hello"[..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, large.len()), &deep, &large[..]).unwrap();
        let found = downloaded(tar.into_inner().unwrap());
        assert_eq!(found.keys().collect::<Vec<_>>(), [&*deep, "notes/", "notes/ü 1.txt"]);
        assert_eq!(found["notes/ü 1.txt"], b"hello");
        assert_eq!(found[&deep], large);
    }

    #[test]
    fn links_devices_and_paths_out_of_the_archive_are_omitted() {
        let mut tar = Builder::new(Vec::new());
        for kind in [EntryType::Symlink, EntryType::Link] {
            tar.append_link(&mut header(kind, 0), "link", "/etc/passwd").unwrap();
        }
        for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
            tar.append_data(&mut header(kind, 0), "device", &[][..]).unwrap();
        }
        for name in ["../up", "/absolute", "a/../../up"] {
            let mut header = header(EntryType::Regular, 1);
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, &b"x"[..]).unwrap();
        }
        tar.append_data(&mut header(EntryType::Regular, 1), "kept", &b"x"[..]).unwrap();
        let tar = tar.into_inner().unwrap();
        assert_eq!(downloaded(tar.clone()).into_keys().collect::<Vec<_>>(), ["kept"]);
        assert_eq!(zipped(&tar), ["kept"]);
    }

    /// Returns the names in the zip archive of a tar archive.
    fn zipped(tar: &[u8]) -> Vec<String> {
        let mut bytes = Vec::new();
        zip(tar, &mut bytes).unwrap();
        zip::ZipArchive::new(Cursor::new(bytes)).unwrap().file_names().map(|name| name.unwrap().into_owned()).collect()
    }

    #[test]
    fn zip_archive_has_no_name_that_leads_out_of_a_directory_on_windows() {
        let mut tar = Builder::new(Vec::new());
        tar.append_data(&mut header(EntryType::Directory, 0), "./notes", &[][..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, 1), "notes/..\\..\\up", &b"x"[..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, 1), "C:\u{1b}x", &b"x"[..]).unwrap();
        assert_eq!(zipped(&tar.into_inner().unwrap()), ["notes/", "notes/.._.._up", "C__x"]);
    }

    #[test]
    fn files_of_a_launch_have_a_limit() {
        let mut tar = Builder::new(Vec::new());
        for name in ["a", "b"] {
            tar.append_data(&mut header(EntryType::Regular, 600), name, &[1; 600][..]).unwrap();
        }
        let tar = tar.into_inner().unwrap();
        let limited = |most| files(&*tar, &mut Vec::new(), most).map_err(|error| error.kind());
        assert_eq!(limited((1200, 2)), Ok(()));
        for most in [(1199, 2), (1200, 1)] {
            assert_eq!(limited(most), Err(io::ErrorKind::FileTooLarge));
        }
    }

    #[test]
    fn truncated_archive_is_an_error() {
        let mut tar = Builder::new(Vec::new());
        tar.append_data(&mut header(EntryType::Regular, 5000), "a", &[1; 5000][..]).unwrap();
        let mut tar = tar.into_inner().unwrap();
        tar.truncate(3000);
        assert!(convert(Cursor::new(tar), &mut Vec::new()).is_err());
    }

    #[test]
    fn path_is_normalised_or_refused() {
        assert_eq!(relative("./a//b/.".as_ref()).as_deref(), Some(Path::new("a/b")));
        for path in ["", ".", "./", "..", "a/..", "/a"] {
            assert_eq!(relative(path.as_ref()), None, "{path}");
        }
    }

    const MANY: u64 = 8 << 30;

    /// Returns the entry_header of an entry.
    fn entry_header(kind: EntryType, size: u64) -> Vec<u8> {
        let mut entry_header = Header::new_gnu();
        entry_header.set_entry_type(kind);
        entry_header.set_size(size);
        entry_header.set_path("name").unwrap();
        entry_header.set_cksum();
        entry_header.as_bytes().to_vec()
    }

    /// Reads all entries. Returns their paths and sizes.
    fn read_entries(archive: impl Read) -> io::Result<Vec<(PathBuf, u64)>> {
        let (mut entries, mut found) = (Entries::new(archive), Vec::new());
        while let Some(entry) = entries.next()? {
            found.push((entry.path, entry.size));
        }
        Ok(found)
    }

    #[test]
    fn description_over_64_kib_is_refused_before_it_is_read() {
        for kind in [EntryType::GNULongName, EntryType::XHeader] {
            let endless = io::Cursor::new(entry_header(kind, MANY)).chain(io::repeat(0));
            let error = read_entries(endless).unwrap_err();
            assert!(error.to_string().contains("too long"), "{error}");
        }
    }

    #[test]
    fn long_description_without_use_is_skipped() {
        let mut archive = entry_header(EntryType::XGlobalHeader, 1 << 20);
        archive.extend(vec![b'x'; 1 << 20]);
        archive.extend(entry_header(EntryType::Regular, 0));
        assert_eq!(read_entries(&*archive).unwrap(), [(PathBuf::from("name"), 0)]);
    }

    #[test]
    fn pax_description_gives_path_and_size() {
        let records = "16 path=long/ü\n14 size=70000\n";
        let mut archive = entry_header(EntryType::XHeader, records.len() as u64);
        archive.extend(records.as_bytes());
        archive.resize(2 * BLOCK, 0);
        archive.extend(entry_header(EntryType::Regular, 3));
        archive.extend(vec![0; 70_144]);
        archive.extend(entry_header(EntryType::Regular, 0));
        assert_eq!(read_entries(&*archive).unwrap(), [(PathBuf::from("long/ü"), 70_000), (PathBuf::from("name"), 0)]);
    }

    #[test]
    fn sparse_files_wrong_checksums_and_huge_sizes_are_errors() {
        assert!(read_entries(&*entry_header(EntryType::GNUSparse, 0)).is_err());
        let mut wrong = entry_header(EntryType::Regular, 0);
        wrong[0] ^= 1;
        assert!(read_entries(&*wrong).is_err());
        assert!(read_entries(&*entry_header(EntryType::Regular, u64::MAX)).is_err());
    }

    #[test]
    fn any_archive_of_an_app_is_converted_or_refused() {
        let name = "any_archive_of_an_app_is_converted_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 10_000, |bytes| {
            let (mut download, mut zipped, mut restored) = (Vec::new(), Vec::new(), Vec::new());
            if convert(bytes, &mut download).is_ok() {
                assert_only_files(GzDecoder::new(&*download));
            }
            if files(bytes, &mut restored, (1 << 20, 100)).is_ok() {
                assert_only_files(&*restored);
            }
            if zip(bytes, &mut zipped).is_ok() {
                let mut archive = zip::ZipArchive::new(Cursor::new(zipped)).unwrap();
                for index in 0..archive.len() {
                    let mut file = archive.by_index(index).unwrap();
                    assert!(file.enclosed_name().is_some(), "{:?}", file.name());
                    io::copy(&mut file, &mut io::sink()).unwrap();
                }
            }
        });
    }

    /// Reads an archive that was converted completely. It has only files and directories, and no path that leads out of it.
    fn assert_only_files(tar: impl Read) {
        for entry in Archive::new(tar).entries().unwrap() {
            let mut entry = entry.unwrap();
            assert!(matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Directory));
            assert!(relative(&entry.path().unwrap()).is_some());
            let size = entry.size();
            assert_eq!(io::copy(&mut entry, &mut io::sink()).unwrap(), size);
        }
    }
}
