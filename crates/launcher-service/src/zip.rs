//! Writes a zip archive as a stream, with a constant amount of memory. Format: PKWARE's APPNOTE.TXT.
//!
//! A zip archive ends with a directory of all its files. The crate `zip` keeps 240 bytes per file for it in memory, and
//! completes the archive even after an error. This writer keeps the directory compressed (20 bytes per file) and limited, and an
//! interrupted archive has no end.

use std::io::{self, Read, Write};

use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcReader};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Maximum bytes of the compressed directory: that of about 50,000 files with usual names.
pub(crate) const DIRECTORY_BYTES: usize = 1 << 20;
/// Sizes and positions from this one on are stored in the extension for large archives. The size of compressed content can
/// exceed that of the content a little.
const LARGE: u64 = 0xf000_0000;
/// Value of a field whose content is in the extension.
const IN_EXTENSION: u32 = u32::MAX;
/// Version of the format with the extension for large archives.
const VERSION: u16 = 45;
/// The names are in UTF-8.
const UTF8: u16 = 1 << 11;
/// The sizes follow the content.
const SIZES_FOLLOW: u16 = 1 << 3;
const DEFLATED: u16 = 8;

/// Zip archive that is being written.
pub(crate) struct ZipWriter<W: Write> {
    out: Counted<W>,
    directory: DeflateEncoder<Vec<u8>>,
    entries: u64,
    most: usize,
}

/// File or directory of an archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ZipEntry<'a> {
    /// Relative path. That of a directory ends with a slash.
    pub(crate) path: &'a str,
    pub(crate) mode: u32,
    /// Time of the last change, in seconds since 1970.
    pub(crate) modified: u64,
    /// Bytes of the content.
    pub(crate) size: u64,
}

impl ZipEntry<'_> {
    fn is_directory(&self) -> bool {
        self.path.ends_with('/')
    }

    /// Time and date in the format of DOS, in UTC.
    fn dos_time(&self) -> [u16; 2] {
        let at = Timestamp::from_second(i64::try_from(self.modified).unwrap_or_default()).unwrap_or_default();
        let at = at.to_zoned(TimeZone::UTC);
        let small = |number: i8| u16::try_from(number).unwrap_or_default();
        let Some(year) =
            at.year().checked_sub(1980).and_then(|year| u16::try_from(year).ok()).filter(|year| *year < 128)
        else {
            return [0, 0x21];
        };
        [
            (small(at.hour()) << 11) | (small(at.minute()) << 5) | (small(at.second()) / 2),
            year << 9 | small(at.month()) << 5 | small(at.day()),
        ]
    }
}

impl<W: Write> ZipWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self::with_limit(out, DIRECTORY_BYTES)
    }

    fn with_limit(out: W, most: usize) -> Self {
        let directory = DeflateEncoder::new(Vec::new(), Compression::fast());
        Self { out: Counted { out, written: 0 }, directory, entries: 0, most }
    }

    /// Adds a file or a directory.
    ///
    /// # Errors
    /// An error of the output or of the content, a content of another size, or too many files.
    pub(crate) fn add(&mut self, entry: &ZipEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let name_length = u16::try_from(entry.path.len()).map_err(|_| invalid("a path is too long"))?;
        let offset = self.out.written;
        let (is_directory, is_large, [time, date]) = (entry.is_directory(), entry.size >= LARGE, entry.dos_time());
        let (flags, method) = if is_directory { (UTF8, 0) } else { (UTF8 | SIZES_FOLLOW, DEFLATED) };
        let mut head = Fields::default();
        head.u32(0x0403_4b50).u16(VERSION).u16(flags).u16(method).u16(time).u16(date).u32(0);
        let size = if is_large { IN_EXTENSION } else { 0 };
        head.u32(size).u32(size).u16(name_length).u16(if is_large { 20 } else { 0 }).bytes(entry.path.as_bytes());
        if is_large {
            head.u16(1).u16(16).u64(0).u64(0);
        }
        self.out.write_all(&head.0)?;
        let (sum, packed) = if is_directory { (0, 0) } else { self.content(entry, content)? };
        if !is_directory {
            let mut sizes = Fields::default();
            sizes.u32(0x0807_4b50).u32(sum);
            if is_large {
                sizes.u64(packed).u64(entry.size);
            } else {
                sizes.u32(low(packed)).u32(low(entry.size));
            }
            self.out.write_all(&sizes.0)?;
        }
        let mut extension = Fields::default();
        let mut field = |value: u64| {
            if value < LARGE {
                return low(value);
            }
            extension.u64(value);
            IN_EXTENSION
        };
        let (size, packed, offset) = (field(entry.size), field(packed), field(offset));
        let kind = if is_directory { 0o040_000 } else { 0o100_000 };
        let mut record = Fields::default();
        record.u32(0x0201_4b50).u16(3 << 8 | VERSION).u16(VERSION).u16(flags).u16(method).u16(time).u16(date).u32(sum);
        let extension_length = if extension.0.is_empty() { 0 } else { 4 + extension.0.len() };
        record.u32(packed).u32(size).u16(name_length).u16(u16::try_from(extension_length).unwrap_or_default());
        record.u16(0).u16(0).u16(0).u32((kind | entry.mode & 0o777) << 16 | u32::from(is_directory) << 4).u32(offset);
        record.bytes(entry.path.as_bytes());
        if !extension.0.is_empty() {
            record.u16(1).u16(u16::try_from(extension.0.len()).unwrap_or_default()).bytes(&extension.0);
        }
        self.directory.write_all(&record.0)?;
        self.entries += 1;
        if self.directory.get_ref().len() > self.most {
            return Err(invalid("it has too many files for a zip archive: download the tar.gz archive"));
        }
        Ok(())
    }

    /// Writes the compressed content of a file. Returns its checksum and its size.
    fn content(&mut self, entry: &ZipEntry<'_>, content: &mut dyn Read) -> io::Result<(u32, u64)> {
        let begin = self.out.written;
        let mut content = CrcReader::new(content);
        let mut packed = DeflateEncoder::new(&mut self.out, Compression::fast());
        let size = io::copy(&mut content, &mut packed)?;
        packed.finish()?;
        if size == entry.size {
            Ok((content.crc().sum(), self.out.written - begin))
        } else {
            Err(invalid("a file has another size"))
        }
    }

    /// Writes the directory of all files.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Self { mut out, directory, entries, .. } = self;
        let offset = out.written;
        let directory = directory.finish()?;
        io::copy(&mut DeflateDecoder::new(&*directory), &mut out)?;
        let (size, end) = (out.written - offset, out.written);
        let mut last = Fields::default();
        if entries >= u64::from(u16::MAX) || offset >= LARGE || size >= LARGE {
            last.u32(0x0606_4b50).u64(44).u16(3 << 8 | VERSION).u16(VERSION).u32(0).u32(0);
            last.u64(entries).u64(entries).u64(size).u64(offset);
            last.u32(0x0706_4b50).u32(0).u64(end).u32(1);
        }
        let count = u16::try_from(entries).unwrap_or(u16::MAX);
        last.u32(0x0605_4b50).u16(0).u16(0).u16(count).u16(count);
        let field = |value: u64| if value < LARGE { low(value) } else { IN_EXTENSION };
        last.u32(field(size)).u32(field(offset)).u16(0);
        out.write_all(&last.0)?;
        out.flush()
    }
}

/// Returns a number below [`LARGE`].
fn low(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(IN_EXTENSION)
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archive cannot be written: {what}"))
}

/// Little-endian fields of a record.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Output that counts its bytes.
struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Seek as _, SeekFrom};

    use zip::ZipArchive;

    use super::*;

    fn entry(path: &str, mode: u32, size: usize) -> ZipEntry<'_> {
        ZipEntry { path, mode, modified: 1_790_000_000, size: size as u64 }
    }

    #[test]
    fn archive_is_read_by_another_program() {
        let mut bytes = Vec::new();
        let large = vec![7; 3_000_000];
        let mut writer = ZipWriter::new(&mut bytes);
        writer.add(&entry("notes/", 0o700, 0), &mut io::empty()).unwrap();
        writer.add(&entry("notes/ü 1.txt", 0o644, 5), &mut &b"hello"[..]).unwrap();
        writer.add(&entry("run.sh", 0o755, large.len()), &mut &large[..]).unwrap();
        writer.add(&entry("empty", 0o600, 0), &mut io::empty()).unwrap();
        writer.finish().unwrap();
        let mut archive = ZipArchive::new(Cursor::new(&bytes)).unwrap();
        let found: Vec<_> = (0..archive.len())
            .map(|place| {
                let mut file = archive.by_index(place).unwrap();
                let mut content = Vec::new();
                file.read_to_end(&mut content).unwrap();
                let time = file.last_modified().unwrap();
                assert_eq!((time.year(), time.month(), time.day()), (2026, 9, 21));
                (file.name().unwrap().into_owned(), file.unix_mode().unwrap() & 0o777, file.is_dir(), content.len())
            })
            .collect();
        let expected = [
            ("notes/", 0o700, true, 0),
            ("notes/ü 1.txt", 0o644, false, 5),
            ("run.sh", 0o755, false, 3_000_000),
            ("empty", 0o600, false, 0),
        ];
        assert_eq!(found, expected.map(|(name, mode, is_dir, size)| (name.to_owned(), mode, is_dir, size)));
    }

    #[test]
    fn more_files_than_the_short_form_counts_are_listed() {
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::with_limit(&mut bytes, 2 * DIRECTORY_BYTES);
        for number in 0..70_000 {
            writer.add(&entry(&format!("notes/{number}.txt"), 0o644, 1), &mut &b"x"[..]).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(ZipArchive::new(Cursor::new(&bytes)).unwrap().len(), 70_000);
    }

    /// Reads the archive with Python: the modes, and the contents with their checksums.
    fn read_by_python(path: &std::path::Path) -> String {
        let program = "import sys, zipfile\n\
             with zipfile.ZipFile(sys.argv[1]) as archive:\n    \
                 assert archive.testzip() is None\n    \
                 for one in archive.infolist():\n        \
                     print(one.filename, oct(one.external_attr >> 16), one.file_size, one.header_offset)";
        let output = std::process::Command::new("python3").args(["-c", program]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn files_beyond_4_gib_are_read_by_python() {
        const HOLE: u64 = 5 << 30;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.seek(SeekFrom::Start(HOLE)).unwrap();
        let mut writer = ZipWriter::new(&mut file);
        writer.out.written = HOLE;
        writer.add(&entry("notes/", 0o700, 0), &mut io::empty()).unwrap();
        writer.add(&entry("notes/ü.txt", 0o640, 5), &mut &b"hello"[..]).unwrap();
        writer.finish().unwrap();
        let second = HOLE + 30 + 6;
        let expected = format!("notes/ 0o40700 0 {HOLE}\nnotes/ü.txt 0o100640 5 {second}\n");
        assert_eq!(read_by_python(file.path()), expected);
    }

    #[test]
    fn large_sizes_and_positions_are_stored_in_the_extension() {
        let mut out = Vec::new();
        let mut writer = ZipWriter::new(&mut out);
        writer.out.written = LARGE;
        let mut beginning = entry("large", 0o644, 0);
        beginning.size = LARGE + 1;
        // The content ends early: only the fields are of interest.
        assert!(writer.add(&beginning, &mut io::empty()).is_err());
        let head = &out[..];
        assert_eq!((&head[18..26], &head[28..30]), (&[0xff; 8][..], &[20, 0][..]));
    }

    #[test]
    fn directory_has_a_limit_and_content_its_size() {
        let mut writer = ZipWriter::with_limit(io::sink(), 1000);
        let add = |number: usize| writer.add(&entry(&format!("{}", number * 7919), 0o644, 0), &mut io::empty());
        let error = (0..1_000_000).map(add).find_map(Result::err).unwrap();
        assert!(error.to_string().contains("tar.gz"), "{error}");
        let mut writer = ZipWriter::new(io::sink());
        assert!(writer.add(&entry("a", 0o644, 3), &mut &b"xx"[..]).is_err());
    }
}
