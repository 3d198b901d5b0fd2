//! Archives as the tests need them, also invalid ones.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Tar archive of files with mode 644.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, content) in files {
        append(&mut builder, EntryType::Regular, path, 0o644, content);
    }
    builder.into_inner().unwrap()
}

/// Appends an entry with exactly this name, which the library would refuse.
pub(crate) fn append(builder: &mut Builder<Vec<u8>>, kind: EntryType, path: &str, mode: u32, content: &[u8]) {
    let mut header = Header::new_ustar();
    header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    header.set_cksum();
    builder.append(&header, content).unwrap();
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Zip archive of files. A path with a slash at its end is a directory; a mode can be that of a link.
pub(crate) fn zip(files: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content, mode) in files {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        if path.ends_with('/') {
            writer.add_directory(*path, options).unwrap();
        } else if mode & 0o170_000 == 0o120_000 {
            writer.add_symlink(*path, str::from_utf8(content).unwrap(), options).unwrap();
        } else {
            writer.start_file(*path, options).unwrap();
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
