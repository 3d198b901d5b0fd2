//! Writes the tar archive of a directory, also while an app changes the files.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tar::{Builder, Header, HeaderMode};

use super::unreadable::Unreadable;

/// Directory that a file system creates for damaged files. It belongs to root, and is no work of the user.
const LOST_AND_FOUND: &str = "lost+found";

/// Writes the files and directories below `root`. Omits links, sockets and devices, and files that vanish meanwhile. A
/// file that cannot be read does not make the archive of all others unavailable: the last file of the archive,
/// `NOT-IN-THIS-ARCHIVE.txt`, lists all that are missing. The archive of a missing directory is empty.
///
/// # Errors
/// Only those of `out`.
pub fn write_archive(root: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut archive = Archive { tar: Builder::new(out), root, unreadable: Unreadable::default() };
    archive.add_directory(Path::new(""))?;
    let Archive { mut tar, unreadable, .. } = archive;
    unreadable.add_to(&mut tar, root)?;
    tar.finish()
}

struct Archive<'a, W: Write> {
    tar: Builder<W>,
    root: &'a Path,
    unreadable: Unreadable,
}

impl<W: Write> Archive<'_, W> {
    fn add_directory(&mut self, path: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(self.root.join(path)) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable.record(&path.join(""), &error);
                return Ok(());
            }
        };
        for entry in entries {
            match entry {
                Ok(entry) if path == Path::new("") && entry.file_name() == OsStr::new(LOST_AND_FOUND) => {}
                Ok(entry) => self.add(&path.join(entry.file_name()), &entry)?,
                Err(error) => {
                    self.unreadable.record(&path.join(""), &error);
                    break;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, entry: &DirEntry) -> io::Result<()> {
        let read = match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                self.tar.append_data(&mut header(&metadata), path.join(""), io::empty())?;
                return self.add_directory(path);
            }
            Ok(metadata) if metadata.is_file() => open(&self.root.join(path)),
            Ok(_) => return Ok(()),
            Err(error) => Err(error),
        };
        match read {
            Ok(Some((file, metadata))) => self.add_file(path, file, &metadata),
            Ok(None) => Ok(()),
            Err(error) => {
                self.unreadable.record(path, &error);
                Ok(())
            }
        }
    }

    fn add_file(&mut self, path: &Path, file: File, metadata: &Metadata) -> io::Result<()> {
        let mut header = header(metadata);
        header.set_size(metadata.len());
        let mut content = Content { file, left: metadata.len(), error: None };
        self.tar.append_data(&mut header, path, &mut content)?;
        if let Some(error) = content.error {
            self.unreadable.record(path, &error);
        }
        Ok(())
    }
}

/// Opens a regular file; `None` if the path has become something else. Never follows a link, and never waits for a
/// writer, as the open of a pipe does.
fn open(path: &PathBuf) -> io::Result<Option<(File, Metadata)>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = match opened {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => return Ok(None),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata)))
}

fn header(metadata: &Metadata) -> Header {
    let mut header = Header::new_gnu();
    header.set_metadata_in_mode(metadata, HeaderMode::Complete);
    header.set_size(0);
    header
}

/// Reads exactly this many bytes of a file, whose size may change meanwhile, or which may be damaged. Otherwise all later
/// entries would be unreadable. Missing bytes become zero.
struct Content {
    file: File,
    left: u64,
    error: Option<io::Error>,
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..most];
        let read = if self.error.is_some() { Ok(0) } else { self.file.read(buffer) };
        let read = match read {
            Ok(0) => {
                buffer.fill(0);
                most
            }
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                self.error = Some(error);
                buffer.fill(0);
                most
            }
        };
        self.left -= read as u64;
        Ok(read)
    }
}
