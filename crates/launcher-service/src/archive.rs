//! Converts the tar archive of a volume to a zip archive, which every operating system opens.

use std::io::{self, Read, Write};
use std::path::{Component, Path};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use launcher_fleet::{ByteStream, written_by};
use tar::{Archive, Entry, EntryType};
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Size in bytes from which an entry needs the format ZIP64. Smaller than the limit of 4 GiB, because compression can
/// enlarge a file.
const LARGE: u64 = 4_000_000_000;

/// Converts an archive while it is read: neither archive is in memory as a whole. The zip archive has files and
/// directories only. Links, devices and paths that lead out of the archive are omitted.
pub(crate) fn to_zip(tar: ByteStream) -> ByteStream {
    let handle = Handle::current();
    written_by(move |out| {
        let reader = SyncIoBridge::new_with_handle(StreamReader::new(tar), handle);
        convert(reader, out)
    })
}

fn convert(tar: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    for entry in Archive::new(tar).entries()? {
        add(&mut zip, entry?)?;
    }
    zip.finish()?;
    Ok(())
}

fn add<W: Write>(zip: &mut ZipWriter<StreamWriter<W>>, mut entry: Entry<'_, impl Read>) -> io::Result<()> {
    let Some(name) = relative(&entry.path()?) else { return Ok(()) };
    let header = entry.header();
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(changed_at(header.mtime().unwrap_or_default()))
        .unix_permissions(header.mode().unwrap_or(0o644) & 0o777)
        .large_file(entry.size() >= LARGE);
    match header.entry_type() {
        EntryType::Directory => zip.add_directory(name, options)?,
        EntryType::Regular | EntryType::Continuous => {
            zip.start_file(name, options)?;
            io::copy(&mut entry, zip)?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns a path in the archive; `None` for the archive's root and for a path that leads out of the archive.
fn relative(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Converts seconds since 1970 to the time of a zip entry, in UTC. Times before 1980 become 1980.
fn changed_at(seconds: u64) -> DateTime {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let time = time.unwrap_or_default().to_zoned(TimeZone::UTC);
    let part = |part: i8| u8::try_from(part).unwrap_or_default();
    let year = u16::try_from(time.year()).unwrap_or_default();
    let (hour, minute, second) = (part(time.hour()), part(time.minute()), part(time.second()));
    DateTime::from_date_and_time(year, part(time.month()), part(time.day()), hour, minute, second).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Cursor, Read};

    use tar::{Builder, EntryType, Header};
    use zip::ZipArchive;

    use super::{changed_at, convert, relative};

    fn header(kind: EntryType, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size as u64);
        header.set_mode(0o4755);
        header.set_mtime(1_790_000_000);
        header
    }

    fn zipped(tar: Vec<u8>) -> BTreeMap<String, Vec<u8>> {
        let mut zip = Vec::new();
        convert(Cursor::new(tar), &mut zip).unwrap();
        let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
        let mut found = BTreeMap::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            assert_eq!(file.unix_mode().unwrap() & 0o7000, 0, "no set-user-id");
            found.insert(file.name().unwrap().into_owned(), content);
        }
        found
    }

    #[test]
    fn files_and_directories_are_converted_with_their_content() {
        let mut tar = Builder::new(Vec::new());
        let large = vec![7; 3_000_000];
        tar.append_data(&mut header(EntryType::Directory, 0), "./notes", &[][..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, 5), "./notes/ü 1.txt", &b"hello"[..]).unwrap();
        tar.append_data(&mut header(EntryType::Regular, large.len()), "a/".repeat(80) + "deep", &large[..]).unwrap();
        let found = zipped(tar.into_inner().unwrap());
        let names: Vec<_> = found.keys().cloned().collect();
        assert_eq!(names, ["a/".repeat(80) + "deep", "notes/".to_owned(), "notes/ü 1.txt".to_owned()]);
        assert_eq!(found["notes/ü 1.txt"], b"hello");
        assert_eq!(found[&("a/".repeat(80) + "deep")], large);
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
        assert_eq!(zipped(tar.into_inner().unwrap()).into_keys().collect::<Vec<_>>(), ["kept"]);
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
        assert_eq!(relative("./a//b/.".as_ref()).as_deref(), Some("a/b"));
        for path in ["", ".", "./", "..", "a/..", "/a"] {
            assert_eq!(relative(path.as_ref()), None, "{path}");
        }
    }

    #[test]
    fn time_is_utc_and_never_before_1980() {
        let time = changed_at(1_790_000_001);
        assert_eq!((time.year(), time.month(), time.day(), time.hour()), (2026, 9, 21, 14));
        assert_eq!(changed_at(0).year(), 1980);
        assert_eq!(changed_at(u64::MAX).year(), 1980);
    }
}
