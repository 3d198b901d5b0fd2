//! Writes the tar archive of a directory, also while an app changes the files. The last file of the archive lists the files
//! that it lacks.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use tar::{Builder, Header, HeaderMode};

/// Directory that a file system creates for damaged files. It belongs to root, and is no work of the user.
const LOST_AND_FOUND: &str = "lost+found";
/// Maximum length of a path in bytes. Most programs cannot open a longer one.
const MAX_PATH: usize = 4096;
/// Maximum memory of the directories that wait to be read, in bytes.
const MAX_WAITING: usize = 16 * 1024 * 1024;
/// Size from which a file may be too sparse for the archive, in bytes.
const SPARSE: u64 = 1024 * 1024 * 1024;
/// Maximum ratio of the size of a large file to its size on the disk.
const SPARSE_RATIO: u64 = 16;

/// Writes the files and directories below `root`, but not if `root` is a link: the app may have replaced it. Omits links,
/// sockets and devices, and files that vanish meanwhile. A file that cannot be read does not make the archive of all others unavailable: the last file of the archive,
/// `NOT-IN-THIS-ARCHIVE.txt`, lists all that are missing. The archive of a missing directory is empty.
///
/// Needs the same stack and number of open files for every depth of the directories.
///
/// # Errors
/// Only those of `out`.
pub fn write_archive(root: &Path, out: &mut dyn Write) -> io::Result<()> {
    let (waiting, unreadable) = (vec![PathBuf::new()], Unreadable::default());
    let mut archive = Archive { tar: Builder::new(out), root, waiting, waiting_bytes: 0, last: None, unreadable };
    while let Some(path) = archive.waiting.pop() {
        archive.waiting_bytes = archive.waiting_bytes.saturating_sub(memory(&path));
        archive.add_directory(&path)?;
    }
    let Archive { mut tar, unreadable, .. } = archive;
    unreadable.add_to(&mut tar, root)?;
    tar.finish()
}

struct Archive<'a, W: Write> {
    tar: Builder<W>,
    root: &'a Path,
    /// Directories that are not read yet, relative to the root.
    waiting: Vec<PathBuf>,
    /// Memory of these directories.
    waiting_bytes: usize,
    /// The directory that was found last.
    last: Option<(PathBuf, OwnedFd)>,
    unreadable: Unreadable,
}

impl<W: Write> Archive<'_, W> {
    /// Adds a directory and its files. The directories in it wait.
    fn add_directory(&mut self, path: &Path) -> io::Result<()> {
        let (directory, metadata) = match self.find(path) {
            Ok(found) => found,
            Err(error) => {
                self.unreadable.record(&path.join(""), &error);
                return Ok(());
            }
        };
        let is_root = path == Path::new("");
        if !is_root {
            self.tar.append_data(&mut header(&metadata), path.join(""), io::empty())?;
        }
        let entries = open(&directory, OsStr::new("."), OFlags::DIRECTORY);
        match entries.and_then(|(entries, _)| Ok(Dir::new(entries)?)) {
            Ok(entries) => self.add_entries(path, &directory, entries, is_root),
            Err(error) => {
                self.unreadable.record(&path.join(""), &error);
                Ok(())
            }
        }
    }

    /// Finds a directory below the root, by its names one after the other: an app may replace each of them by a link.
    /// Begins at the directory of the last call, if it is a parent.
    fn find(&mut self, path: &Path) -> io::Result<(File, Metadata)> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let known = self.last.take().and_then(|(last, directory)| Some((directory, path.strip_prefix(last).ok()?)));
        let (mut directory, rest) = match known {
            Some(known) => known,
            None => (rustix::fs::open(self.root, flags, Mode::empty())?, path),
        };
        for name in rest {
            directory = openat(&directory, name, flags, Mode::empty())?;
        }
        self.last = Some((path.to_owned(), directory.try_clone()?));
        let directory = File::from(directory);
        let metadata = directory.metadata()?;
        Ok((directory, metadata))
    }

    fn add_entries(&mut self, path: &Path, directory: &File, entries: Dir, is_root: bool) -> io::Result<()> {
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.unreadable.record(&path.join(""), &error.into());
                    break;
                }
            };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let is_omitted = name == "." || name == ".." || (is_root && name == LOST_AND_FOUND);
            if !is_omitted {
                self.add(&path.join(name), directory, name)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, directory: &File, name: &OsStr) -> io::Result<()> {
        if path.as_os_str().len() > MAX_PATH {
            self.unreadable.omit(path, "its path is too long");
            return Ok(());
        }
        let found = match open(directory, name, OFlags::PATH) {
            Ok((_, metadata)) if metadata.is_dir() => {
                self.wait(path);
                return Ok(());
            }
            // The open of a pipe would wait for a writer.
            Ok((_, metadata)) if metadata.is_file() => open(directory, name, OFlags::NONBLOCK),
            found => found,
        };
        match found {
            Ok((_, metadata)) if is_sparse(&metadata) => self.unreadable.omit(path, "it is sparse"),
            Ok((file, metadata)) if metadata.is_file() => self.add_file(path, file, &metadata)?,
            Ok(_) => {}
            // The path has become a link.
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {}
            Err(error) => self.unreadable.record(path, &error),
        }
        Ok(())
    }

    fn wait(&mut self, path: &Path) {
        let bytes = self.waiting_bytes + memory(path);
        if bytes > MAX_WAITING {
            self.unreadable.omit(&path.join(""), "there are too many directories");
        } else {
            self.waiting_bytes = bytes;
            self.waiting.push(path.to_owned());
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

/// Opens an entry of a directory for reading. Never follows a link.
fn open(directory: &File, name: &OsStr, flags: OFlags) -> io::Result<(File, Metadata)> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Memory of a waiting directory, with the overhead of its allocation.
fn memory(path: &Path) -> usize {
    path.as_os_str().len() + 48
}

/// True for a large file that has almost no content. Sending its zeros could take hours.
fn is_sparse(metadata: &Metadata) -> bool {
    let on_disk = metadata.blocks().saturating_mul(512);
    metadata.is_file() && metadata.len() > SPARSE && metadata.len() > on_disk.saturating_mul(SPARSE_RATIO)
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

/// Name of the file, without its ending.
const NAME: &str = "NOT-IN-THIS-ARCHIVE";
/// First lines of the file.
const INTRODUCTION: &str = "These files and directories are missing in this archive, or incomplete, for the reason beside them.\n\
                            Kept files still exist: launch a workshop, and copy them there. Files of a workshop without kept files were\n\
                            deleted with it.\n\n";
/// Maximum length of the list in bytes. Further paths are only counted.
const MAX_LIST: usize = 256 * 1024;

/// Paths that could not be read or are omitted, with the reasons.
#[derive(Debug, Default)]
struct Unreadable {
    list: String,
    omitted: usize,
}

impl Unreadable {
    /// Records a path, unless it has vanished: the app deleted it.
    fn record(&mut self, path: &Path, error: &io::Error) {
        if error.kind() != ErrorKind::NotFound {
            self.omit(path, &error.kind().to_string());
        }
    }

    /// Records a path and the reason why it is missing.
    fn omit(&mut self, path: &Path, reason: &str) {
        if self.list.len() > MAX_LIST {
            self.omitted += 1;
            return;
        }
        // A path may contain line feeds.
        let path = path.display().to_string().escape_debug().to_string();
        let path = if path.is_empty() { "/" } else { &path };
        self.list.push_str(&format!("{path}: {reason}\n"));
    }

    /// Adds the list to the archive, unless it is empty. The name of the list differs from the names of the user's
    /// files.
    fn add_to<W: Write>(self, tar: &mut Builder<W>, root: &Path) -> io::Result<()> {
        if self.list.is_empty() {
            return Ok(());
        }
        let more = if self.omitted > 0 { format!("… and {} more\n", self.omitted) } else { String::new() };
        let text = format!("{INTRODUCTION}{}{more}", self.list);
        let mut names = (1..100).map(|number| match number {
            1 => format!("{NAME}.txt"),
            number => format!("{NAME}-{number}.txt"),
        });
        let name = names.find(|name| root.join(name).symlink_metadata().is_err()).unwrap_or(format!("{NAME}.txt"));
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        tar.append_data(&mut header, name, text.as_bytes())
    }
}
