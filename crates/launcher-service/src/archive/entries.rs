//! Reads a tar archive from an untrusted source with a constant amount of memory.
//!
//! The `tar` crate has no limit for the length of a name: it reads the whole name into memory. An app may send any bytes as
//! an archive. This reader therefore limits every part that it keeps. Format: POSIX `pax`, chapter "pax Interchange Format", and the
//! long names of GNU tar.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use tar::{EntryType, Header, PaxExtensions};

/// Size of a header, and unit of all lengths, in bytes.
const BLOCK: usize = 512;
/// Maximum size of the description of an entry, in bytes: 16 times the longest path of Linux.
const MAX_DESCRIPTION: u64 = 64 << 10;
/// Bytes of a header that have its checksum, which counts as spaces.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// Entries of an archive.
pub(super) struct Entries<R> {
    source: R,
    /// Bytes of the present entry that are not read yet, with the padding.
    rest: u64,
}

/// One entry. Its content is read from [`Entries::content`].
pub(super) struct Entry {
    /// Header of the entry itself. Its path and size are not complete.
    pub(super) header: Header,
    /// Path.
    pub(super) path: PathBuf,
    /// Size of the content, in bytes.
    pub(super) size: u64,
}

/// Attributes of an entry, from the extension entries before it.
#[derive(Default)]
struct Description {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

impl<R: Read> Entries<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, rest: 0 }
    }

    /// Returns the next entry; `None` after the last one. Skips what was not read of the present one.
    pub(super) fn next(&mut self) -> io::Result<Option<Entry>> {
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
    pub(super) fn content(&mut self, size: u64) -> Content<'_, R> {
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
pub(super) struct Content<'a, R> {
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

    const MANY: u64 = 8 << 30;

    /// Returns the header of an entry.
    fn header(kind: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_path("name").unwrap();
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    /// Reads all entries. Returns their paths and sizes.
    fn read(archive: impl Read) -> io::Result<Vec<(PathBuf, u64)>> {
        let (mut entries, mut found) = (Entries::new(archive), Vec::new());
        while let Some(entry) = entries.next()? {
            found.push((entry.path, entry.size));
        }
        Ok(found)
    }

    #[test]
    fn description_over_64_kib_is_refused_before_it_is_read() {
        for kind in [EntryType::GNULongName, EntryType::XHeader] {
            let endless = io::Cursor::new(header(kind, MANY)).chain(io::repeat(0));
            let error = read(endless).unwrap_err();
            assert!(error.to_string().contains("too long"), "{error}");
        }
    }

    #[test]
    fn long_description_without_use_is_skipped() {
        let mut archive = header(EntryType::XGlobalHeader, 1 << 20);
        archive.extend(vec![b'x'; 1 << 20]);
        archive.extend(header(EntryType::Regular, 0));
        assert_eq!(read(&*archive).unwrap(), [(PathBuf::from("name"), 0)]);
    }

    #[test]
    fn pax_description_gives_path_and_size() {
        let records = "16 path=long/ü\n14 size=70000\n";
        let mut archive = header(EntryType::XHeader, records.len() as u64);
        archive.extend(records.as_bytes());
        archive.resize(2 * BLOCK, 0);
        archive.extend(header(EntryType::Regular, 3));
        archive.extend(vec![0; 70_144]);
        archive.extend(header(EntryType::Regular, 0));
        assert_eq!(read(&*archive).unwrap(), [(PathBuf::from("long/ü"), 70_000), (PathBuf::from("name"), 0)]);
    }

    #[test]
    fn sparse_files_wrong_checksums_and_huge_sizes_are_errors() {
        assert!(read(&*header(EntryType::GNUSparse, 0)).is_err());
        let mut wrong = header(EntryType::Regular, 0);
        wrong[0] ^= 1;
        assert!(read(&*wrong).is_err());
        assert!(read(&*header(EntryType::Regular, u64::MAX)).is_err());
    }
}
