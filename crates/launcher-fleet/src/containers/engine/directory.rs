//! A directory in a container: its owner, and its files.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bollard::query_parameters::{ContainerArchiveInfoOptions, DownloadFromContainerOptions, UploadToContainerOptions};
use bollard::{body_full, body_try_stream};
use futures_util::{StreamExt, pin_mut};
use launcher_domain::template::is_mount_path;
use tar::{Archive, Builder, EntryType, Header};
use tokio::runtime::Handle;
use tokio_util::io::{StreamReader, SyncIoBridge};

use super::{Engine, EngineError, EngineKind, LONG, SHORT};
use crate::byte_stream::{ByteStream, written_by};

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
        self.within(LONG, read).await
    }
}

fn parent_and_name(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(split) => split,
        None => ("/", path),
    }
}

/// Maximum bytes that are read for the first entry, with the records before it.
const MOST: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirectoryEntry {
    mode: u32,
    user: u32,
    group: u32,
    /// Time of the last change, in seconds since 1970.
    modified: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum FirstEntry {
    Incomplete,
    Directory(DirectoryEntry),
    /// Something else: a file, a link, or no archive.
    Other,
}

impl FirstEntry {
    /// Parses the start of an archive. Its length also limits the memory for the records.
    fn parse(start: &[u8]) -> Self {
        let mut archive = Archive::new(start);
        let is_of_all = |header: &Header| header.entry_type() == EntryType::XGlobalHeader;
        let mut entries = archive.entries().into_iter().flatten();
        match entries.find(|entry| !entry.as_ref().is_ok_and(|entry| is_of_all(entry.header()))) {
            Some(Ok(entry)) => DirectoryEntry::of(entry.header()).map_or(Self::Other, Self::Directory),
            _ if start.len() < MOST => Self::Incomplete,
            _ => Self::Other,
        }
    }
}

impl DirectoryEntry {
    fn of(header: &Header) -> Option<Self> {
        if header.entry_type() != EntryType::Directory {
            return None;
        }
        let id = |number: io::Result<u64>| u32::try_from(number.ok()?).ok();
        let (user, group) = (id(header.uid())?, id(header.gid())?);
        Some(Self { mode: header.mode().ok()? & 0o7777, user, group, modified: header.mtime().ok()? })
    }

    /// Returns an archive with this directory only, or `None` if the name is too long.
    fn archive(self, name: &str) -> Option<Vec<u8>> {
        let mut header = Header::new_ustar();
        // The crate's functions for paths refuse the name `.`.
        let name = format!("{name}/");
        header.as_old_mut().name.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        header.set_entry_type(EntryType::Directory);
        header.set_mode(self.mode);
        header.set_uid(self.user.into());
        header.set_gid(self.group.into());
        header.set_mtime(self.modified);
        header.set_size(0);
        header.set_cksum();
        let mut archive = Builder::new(Vec::new());
        archive.append(&header, io::empty()).and_then(|()| archive.into_inner()).ok()
    }
}

impl Engine {
    /// Returns the files of a directory in a container as a tar archive, with the files of the volumes that are mounted
    /// below it. The paths are relative to the directory. Without `directory`, reads the working directory of the container.
    ///
    /// The engine reads the files, also while the app changes them, and resolves links only within the container. An app
    /// that runs as root may replace the directory by a link: its target must not be a system's directory either. If the app
    /// places the link after this check, it gains nothing: for an archive, the engines see the image and the volumes, and no
    /// file system of the kernel.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    /// All entries that are not below one of these relative paths.
    Without(Vec<String>),
    /// The entries below this relative path.
    Below(String),
}

impl Selection {
    fn target(&self, directory: &str) -> String {
        match self {
            Self::Without(_) => directory.to_owned(),
            Self::Below(path) => format!("{}/{path}", directory.trim_end_matches('/')),
        }
    }

    /// Returns the path of an entry relative to [`Self::target`]; `None` if the entry is not selected.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        match self {
            Self::Without(others) => (!others.iter().any(|other| path.starts_with(other))).then(|| path.to_owned()),
            Self::Below(of) => {
                path.strip_prefix(of).ok().filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned)
            }
        }
    }
}

impl Engine {
    /// Places files of a tar archive in a directory of a container that has not started yet. They belong to the container's
    /// user, or else to the owner of the directory. A file of the image with the same path is replaced.
    ///
    /// The engine extracts the archive, and resolves links only within the container. The caller bounds the time.
    ///
    /// # Errors
    /// [`EngineError::NotFound`]: the container has no such directory. [`EngineError::BadParameter`]: as for
    /// [`Engine::read_directory`]. [`EngineError::Other`]: the engine could not extract the archive, or the archive is
    /// incomplete; a part of the files may be placed.
    pub(crate) async fn write_directory(
        &self,
        container: &str,
        directory: &str,
        selection: Selection,
        files: ByteStream,
    ) -> Result<(), EngineError> {
        let target = selection.target(directory);
        check_readable(&target)?;
        let found = self.directory(container, &target).await?;
        let found = found.ok_or_else(|| EngineError::NotFound(format!("the directory {target} of the container")))?;
        let user = self.user(container).await?.unwrap_or(found.user);
        let handle = Handle::current();
        let archive = written_by(move |out| {
            let reader = SyncIoBridge::new_with_handle(StreamReader::new(files), handle);
            give(reader, (user, found.group), &selection, out)
        });
        let options = UploadToContainerOptions { path: target, ..UploadToContainerOptions::default() };
        let uploaded = self.docker.upload_to_container(container, Some(options), body_try_stream(archive)).await;
        uploaded.map_err(|error| self.error(error))
    }
}

/// Writes the selected entries of an archive as those of this user and group.
fn give(archive: impl Read, (user, group): (u32, u32), selection: &Selection, out: &mut dyn Write) -> io::Result<()> {
    let (mut archive, mut given) = (Archive::new(archive), Builder::new(out));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let Some(path) = selection.relative(&entry.path()?) else { continue };
        let mut header = entry.header().clone();
        header.set_uid(user.into());
        header.set_gid(group.into());
        given.append_data(&mut header, path, &mut entry)?;
    }
    // An error of the source may follow the end of the archive.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    given.finish()
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

    /// Size of a header, and unit of all sizes.
    const BLOCK: usize = 512;

    /// Returns the header of an entry of this type.
    fn header(entry_type: EntryType, size: u64) -> Vec<u8> {
        let mut header = Header::new_ustar();
        header.set_entry_type(entry_type);
        header.set_size(size);
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    /// Source whose checksum is wrong.
    struct Damaged;

    impl Read for Damaged {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("wrong checksum"))
        }
    }

    #[test]
    fn error_of_the_source_after_the_end_of_its_archive_is_an_error() {
        let archive = Builder::new(Vec::new()).into_inner().unwrap();
        let all = Selection::Without(Vec::new());
        let error = give((&*archive).chain(Damaged), (1000, 100), &all, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "wrong checksum");
    }

    #[test]
    fn written_directory_is_read_again() {
        for directory in [HOME, DirectoryEntry { user: 4_000_000_000, group: 2_097_152, ..HOME }] {
            for name in ["work", "."] {
                let archive = directory.archive(name).unwrap();
                assert_eq!(FirstEntry::parse(&archive), FirstEntry::Directory(directory));
                assert_eq!(archive.len() % BLOCK, 0);
            }
        }
    }

    #[test]
    fn entry_is_read_when_its_header_has_arrived() {
        let archive = HOME.archive("work").unwrap();
        assert_eq!(FirstEntry::parse(&[]), FirstEntry::Incomplete);
        assert_eq!(FirstEntry::parse(&archive[..BLOCK - 1]), FirstEntry::Incomplete);
        assert_eq!(FirstEntry::parse(&archive[..BLOCK]), FirstEntry::Directory(HOME));
    }

    #[test]
    fn records_before_the_entry_have_precedence() {
        let records = b"18 uid=4000000000\n20 mtime=1700000000.5\n";
        let mut archive = header(EntryType::XHeader, records.len() as u64);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.extend_from_slice(records);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.resize(2 * BLOCK, 0);
        assert_eq!(FirstEntry::parse(&archive), FirstEntry::Incomplete);
        archive.extend(HOME.archive("work").unwrap());
        let expected = FirstEntry::Directory(DirectoryEntry { user: 4_000_000_000, ..HOME });
        assert_eq!(FirstEntry::parse(&archive), expected);
        let mut of_all = header(EntryType::XGlobalHeader, 0);
        of_all.extend(archive);
        assert_eq!(FirstEntry::parse(&of_all), expected);
    }

    #[test]
    fn link_is_no_directory() {
        assert_eq!(FirstEntry::parse(&header(EntryType::Symlink, 0)), FirstEntry::Other);
    }

    #[test]
    fn bytes_without_an_archive_end_the_search() {
        assert_eq!(FirstEntry::parse(&vec![1; MOST]), FirstEntry::Other);
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

    #[test]
    fn any_archive_of_an_engine_is_read_or_refused() {
        let name = "any_archive_of_an_engine_is_read_or_refused";
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 50_000, |bytes| {
            let (found, begin) = (FirstEntry::parse(bytes), FirstEntry::parse(&bytes[..bytes.len() / 2]));
            assert!(begin == FirstEntry::Incomplete || begin == found, "{begin:?} {found:?}");
            drop(give(bytes, (1000, 100), &Selection::Without(Vec::new()), &mut Vec::new()));
        });
    }
}
