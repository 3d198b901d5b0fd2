//! A directory in a container: its owner, and its files.

use std::io;

use bollard::body_full;
use bollard::query_parameters::{ContainerArchiveInfoOptions, DownloadFromContainerOptions, UploadToContainerOptions};
use futures_util::{StreamExt, pin_mut};
use launcher_domain::template::is_mount_path;
use tokio::time::timeout;

use super::{Engine, EngineError, EngineKind, LONG, SHORT};
use crate::byte_stream::ByteStream;

impl Engine {
    /// Gives a directory at which a volume is mounted to the user of a container. Call it before the container's process
    /// starts: on Podman after [`Engine::initialise`], which sets the owner of a new volume.
    ///
    /// An engine copies the image's files at this path into an empty volume, with the owner and the mode of the image's
    /// directory. That is not enough if the image has no such directory (Docker Engine then leaves the volume to root), or
    /// if the directory is root's: an app without privileges could not write there.
    ///
    /// This uses the archives of the engine's API, so no program runs as root beside the owner's files, and no image needs
    /// a `chown`. Only the directory itself changes, never a file in it. It keeps mode and time, except that its owner may
    /// always write. Each launch does this, also for an old volume: a launcher may have been killed after the creation of
    /// the volume, and Docker Engine copies the image's directory again into a volume that its user has emptied.
    ///
    /// If the container starts as root, or its user is a name, the call does nothing.
    pub(super) async fn give_to_user(&self, kind: EngineKind, container: &str, path: &str) -> Result<(), EngineError> {
        let Some(user) = self.user(container).await? else { return Ok(()) };
        let Some(directory) = self.directory(container, path).await? else { return Ok(()) };
        // Podman's archives name the container's user and group in place of the owner.
        if kind == EngineKind::Docker && directory.user == user {
            return Ok(());
        }
        let given = DirectoryEntry { user, mode: directory.mode | 0o700, ..directory };
        // Docker Engine ignores an entry for the directory into which it extracts. Podman extracts into the volume only if
        // the path begins with the one of the mount.
        let (target, name) = match kind {
            EngineKind::Docker => parent_and_name(path),
            EngineKind::Podman => (path, "."),
        };
        let archive = given.archive(name).ok_or_else(|| {
            EngineError::BadParameter(format!("the last part of the path {path} has more than 99 bytes"))
        })?;
        let options = UploadToContainerOptions { path: target.to_owned(), ..UploadToContainerOptions::default() };
        let upload = self.docker.upload_to_container(container, Some(options), body_full(archive.into()));
        self.limited(LONG, upload).await
    }

    /// Returns the attributes of a directory in a container; `None` for a file or a link.
    async fn directory(&self, container: &str, path: &str) -> Result<Option<DirectoryEntry>, EngineError> {
        let options = DownloadFromContainerOptions { path: path.to_owned() };
        let archive = self.docker.download_from_container(container, Some(options));
        let read = async {
            pin_mut!(archive);
            let mut begin = Vec::new();
            // The directory is the first entry. The drop of the stream ends the download of the files.
            while let Some(chunk) = archive.next().await {
                begin.extend_from_slice(&chunk.map_err(|error| self.error(error))?);
                match FirstEntry::parse(&begin) {
                    FirstEntry::Incomplete => {}
                    FirstEntry::Directory(directory) => return Ok(Some(directory)),
                    FirstEntry::Other => return Ok(None),
                }
            }
            Err(EngineError::Other(format!("its archive of {path} has no entry")))
        };
        match timeout(LONG, read).await {
            Ok(read) => read,
            Err(_) => Err(EngineError::no_answer(&self.socket, LONG)),
        }
    }
}

/// Splits an absolute path.
fn parent_and_name(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(split) => split,
        None => ("/", path),
    }
}

/// Size of a header, and unit of all sizes.
const BLOCK: usize = 512;
/// Maximum bytes that are read for the first entry, with the records before it.
const MOST: usize = 1 << 20;
/// Maximum bytes of a name, with the slash of a directory.
const MOST_NAME: usize = 100;
/// Types of an entry.
const DIRECTORY: u8 = b'5';
const RECORDS_OF_NEXT: u8 = b'x';
const RECORDS_OF_ALL: u8 = b'g';

/// Attributes of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirectoryEntry {
    /// Permissions.
    mode: u64,
    /// User ID of the owner.
    user: u32,
    /// Group ID.
    group: u32,
    /// Time of the last change, in seconds since 1970.
    modified: u64,
}

/// The first entry of an archive.
#[derive(Debug, PartialEq, Eq)]
enum FirstEntry {
    /// The entry needs more bytes.
    Incomplete,
    /// A directory.
    Directory(DirectoryEntry),
    /// Something else: a file, a link, or no archive.
    Other,
}

impl FirstEntry {
    /// Parses the start of an archive.
    fn parse(start: &[u8]) -> Self {
        let (mut rest, mut user, mut group) = (start, None, None);
        loop {
            let Some((header, content)) = rest.split_first_chunk::<BLOCK>() else {
                return if start.len() < MOST { Self::Incomplete } else { Self::Other };
            };
            let size = usize::try_from(number(&header[124..136])).unwrap_or(usize::MAX);
            match header[156] {
                RECORDS_OF_NEXT | RECORDS_OF_ALL if size < MOST => {
                    let Some(records) = content.get(..size) else { return Self::Incomplete };
                    user = record(records, "uid").or(user);
                    group = record(records, "gid").or(group);
                    rest = content.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
                }
                DIRECTORY => {
                    let id = |record: Option<u64>, field| u32::try_from(record.unwrap_or_else(|| number(field)));
                    let (Ok(user), Ok(group)) = (id(user, &header[108..116]), id(group, &header[116..124])) else {
                        return Self::Other;
                    };
                    let (mode, modified) = (number(&header[100..108]) & 0o7777, number(&header[136..148]));
                    return Self::Directory(DirectoryEntry { mode, user, group, modified });
                }
                _ => return Self::Other,
            }
        }
    }
}

impl DirectoryEntry {
    /// Returns an archive with this directory only, or `None` if the name is too long.
    fn archive(self, name: &str) -> Option<Vec<u8>> {
        let mut archive = vec![0_u8; BLOCK];
        let name = format!("{name}/");
        if name.len() > MOST_NAME {
            return None;
        }
        let mut put = |offset: usize, field: &[u8]| archive[offset..offset + field.len()].copy_from_slice(field);
        put(0, name.as_bytes());
        put(100, &field(self.mode));
        put(108, &field(self.user.into()));
        put(116, &field(self.group.into()));
        put(124, b"00000000000");
        put(136, format!("{:011o}", self.modified & ((1 << 33) - 1)).as_bytes());
        // The checksum counts its own field as spaces.
        put(148, b"        ");
        put(156, &[DIRECTORY]);
        put(257, b"ustar\x0000");
        let sum: u32 = archive.iter().map(|&byte| u32::from(byte)).sum();
        archive[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        // Two empty blocks end an archive.
        archive.resize(3 * BLOCK, 0);
        Some(archive)
    }
}

/// Returns the number of a field: octal digits, or binary if the first bit is set.
fn number(field: &[u8]) -> u64 {
    if field[0] & 0x80 != 0 {
        return field[1..].iter().fold(0, |value, &byte| (value << 8) | u64::from(byte));
    }
    let digits = field.iter().filter(|byte| (b'0'..=b'7').contains(byte));
    digits.fold(0, |value, digit| (value << 3) | u64::from(digit - b'0'))
}

/// Returns a field of 8 bytes with this number.
fn field(number: u64) -> [u8; 8] {
    const MOST_OCTAL: u64 = 0o7_777_777;
    if number > MOST_OCTAL {
        let mut binary = number.to_be_bytes();
        binary[0] = 0x80;
        return binary;
    }
    let mut octal = [0; 8];
    octal[..7].copy_from_slice(format!("{number:07o}").as_bytes());
    octal
}

/// Returns the number of a record: lines of the form `LENGTH NAME=VALUE`.
fn record(records: &[u8], name: &str) -> Option<u64> {
    let lines = records.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut values = lines.filter_map(|line| line.split_once(' ')?.1.strip_prefix(name)?.strip_prefix('='));
    values.next()?.parse().ok()
}

impl Engine {
    /// Returns the files of a directory in a container as a tar archive, with the files of the volumes that are mounted
    /// below it. The paths are relative to the directory. Without `directory`, reads the working directory of the container.
    ///
    /// The engine reads the files, also while the app changes them, and resolves links only within the container. An app
    /// that runs as root may replace the directory by a link: its target must not be a system's directory either, because
    /// the engine would read the kernel's files there as root.
    ///
    /// # Errors
    /// [`EngineError::NotFound`]: the container or the directory does not exist. [`EngineError::BadParameter`]: the
    /// directory is the root, or one of the system's directories.
    pub async fn read_directory(&self, container: &str, directory: Option<&str>) -> Result<ByteStream, EngineError> {
        let directory = match directory {
            Some(directory) => directory.to_owned(),
            None => self.working_dir(container).await?,
        };
        check_readable(&directory)?;
        let options = ContainerArchiveInfoOptions { path: directory.clone() };
        let found = self.docker.get_container_archive_info(container, Some(options));
        let target = self.limited(SHORT, found).await?.link_target;
        let directory = if target.is_empty() { directory } else { target };
        check_readable(&directory)?;
        // The dot means the files in the directory.
        let options = DownloadFromContainerOptions { path: format!("{directory}/.") };
        let (engine, archive) = (self.clone(), self.docker.download_from_container(container, Some(options)));
        Ok(archive.map(move |chunk| chunk.map_err(|error| io::Error::other(engine.error(error)))).boxed())
    }
}

fn check_readable(directory: &str) -> Result<(), EngineError> {
    if is_mount_path(directory) {
        return Ok(());
    }
    let text = "it must be absolute, and neither the root nor a directory of the system such as /etc";
    Err(EngineError::BadParameter(format!("the files of the directory {directory:?} cannot be read: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: DirectoryEntry = DirectoryEntry { mode: 0o2775, user: 1000, group: 100, modified: 1_700_000_000 };

    #[test]
    fn written_directory_is_read_again() {
        for directory in [HOME, DirectoryEntry { user: 4_000_000_000, group: 2_097_152, ..HOME }] {
            let archive = directory.archive("work").unwrap();
            assert_eq!(FirstEntry::parse(&archive), FirstEntry::Directory(directory));
            assert_eq!(archive.len() % BLOCK, 0);
        }
    }

    #[test]
    fn entry_is_read_when_its_header_has_arrived() {
        let archive = HOME.archive("work").unwrap();
        assert_eq!(FirstEntry::parse(&archive[..BLOCK - 1]), FirstEntry::Incomplete);
        assert_eq!(FirstEntry::parse(&archive[..BLOCK]), FirstEntry::Directory(HOME));
    }

    #[test]
    fn records_before_the_entry_have_precedence() {
        let mut archive = HOME.archive("records").unwrap();
        let records = b"18 uid=4000000000\n20 mtime=1700000000.5\n";
        archive[156] = b'x';
        archive[124..135].copy_from_slice(format!("{:011o}", records.len()).as_bytes());
        archive.truncate(BLOCK);
        archive.extend_from_slice(records);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.resize(2 * BLOCK, 0);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.extend(HOME.archive("work").unwrap());
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Directory(DirectoryEntry { user: 4_000_000_000, ..HOME }));
    }

    #[test]
    fn link_is_no_directory() {
        let mut archive = HOME.archive("work").unwrap();
        archive[156] = b'2';
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Other);
    }

    #[test]
    fn long_name_is_refused() {
        assert!(HOME.archive(&"a".repeat(99)).is_some());
        assert_eq!(HOME.archive(&"a".repeat(100)), None);
    }

    #[test]
    fn root_and_directories_of_the_system_are_refused() {
        for directory in ["", "/", "work", "/etc", "/proc/self", "/home/../etc", "/work/."] {
            let error = check_readable(directory).unwrap_err();
            assert!(matches!(&error, EngineError::BadParameter(text) if text.contains("/etc")), "{error}");
        }
        for directory in ["/work", "/home/jovyan"] {
            assert_eq!(check_readable(directory), Ok(()));
        }
    }
}
