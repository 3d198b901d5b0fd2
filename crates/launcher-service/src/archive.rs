//! Converts the tar archive of a volume to the archive that users download.

mod entries;

use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use launcher_fleet::{ByteStream, written_by};
use tar::{Builder, EntryType, Header};
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};

use self::entries::{Entries, Entry};

/// Converts an archive while it is read, with a constant amount of memory: a zip archive would need an index of all files.
/// The new archive is compressed with gzip. It has files and directories only: links, devices and paths that lead out of
/// the archive are omitted.
pub(crate) fn to_download(tar: ByteStream) -> ByteStream {
    let handle = Handle::current();
    written_by(move |out| {
        let reader = SyncIoBridge::new_with_handle(StreamReader::new(tar), handle);
        convert(reader, out)
    })
}

fn convert(tar: impl Read, out: &mut dyn Write) -> io::Result<()> {
    let mut download = Builder::new(GzEncoder::new(out, Compression::fast()));
    let mut entries = Entries::new(tar);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Cursor, Read};
    use std::path::Path;

    use flate2::read::GzDecoder;
    use tar::{Archive, Builder, EntryType, Header};

    use super::{convert, relative};

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
        assert_eq!(downloaded(tar.into_inner().unwrap()).into_keys().collect::<Vec<_>>(), ["kept"]);
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
}
