//! Owner of a directory in a container.

use bollard::body_full;
use bollard::query_parameters::{DownloadFromContainerOptions, UploadToContainerOptions};
use futures_util::{StreamExt, pin_mut};
use tokio::time::timeout;

use super::archive::{DirectoryEntry, FirstEntry};
use super::{Engine, EngineError, EngineKind, LONG};

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
