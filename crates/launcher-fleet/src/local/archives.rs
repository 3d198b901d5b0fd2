//! Archives of volumes: tar archives of directories, also while an app changes the files.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rustix::fs::OFlags;
use tar::{Builder, Header, HeaderMode};

use super::fleet::LocalFleet;
use crate::byte_stream::{ByteStream, written_by};
use crate::machine::{Context as _, validate_volume};
use crate::port::{Archives, FleetError};

#[async_trait]
impl Archives for LocalFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, FleetError> {
        validate_volume(volume)?;
        let root = self.0.context.data_dir().layout.volume(volume);
        Ok(written_by(move |out| {
            let mut tar = Builder::new(out);
            add_directory(&mut tar, &root, &PathBuf::new())?;
            tar.finish()
        }))
    }
}

/// Adds the files and directories below `root/path`. Omits links, sockets and devices, and everything that has vanished
/// or that the user cannot read: one locked file must not make the archive of all others unavailable.
fn add_directory<W: io::Write>(tar: &mut Builder<W>, root: &Path, path: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(root.join(path)) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = path.join(entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let Ok(metadata) = entry.metadata() else { continue };
            tar.append_data(&mut header(&metadata), with_slash(&path), io::empty())?;
            add_directory(tar, root, &path)?;
        } else if kind.is_file()
            && let Ok((file, metadata)) = open(&root.join(&path))
        {
            let mut header = header(&metadata);
            header.set_size(metadata.len());
            tar.append_data(&mut header, &path, exactly(file, metadata.len()))?;
        }
    }
    Ok(())
}

/// Opens a regular file. Never follows a link, and never waits for a writer, as the open of a pipe does.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn header(metadata: &Metadata) -> Header {
    let mut header = Header::new_gnu();
    header.set_metadata_in_mode(metadata, HeaderMode::Complete);
    header.set_size(0);
    header
}

/// Marks a path as one of a directory.
fn with_slash(path: &Path) -> PathBuf {
    path.join("")
}

/// Reads exactly this many bytes of a file, whose size may change meanwhile. Otherwise all later entries would be
/// unreadable. Missing bytes become zero.
fn exactly(file: File, size: u64) -> impl Read {
    file.chain(io::repeat(0)).take(size)
}
