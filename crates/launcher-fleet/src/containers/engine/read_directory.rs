//! Reads the files of a directory in a container.

use std::io;

use bollard::query_parameters::{ContainerArchiveInfoOptions, DownloadFromContainerOptions};
use futures_util::StreamExt;
use launcher_domain::template::is_mount_path;

use super::{Engine, EngineError, SHORT};
use crate::byte_stream::ByteStream;

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
        check(&directory)?;
        let options = ContainerArchiveInfoOptions { path: directory.clone() };
        let found = self.docker.get_container_archive_info(container, Some(options));
        let target = self.limited(SHORT, found).await?.link_target;
        let directory = if target.is_empty() { directory } else { target };
        check(&directory)?;
        // The dot means the files in the directory.
        let options = DownloadFromContainerOptions { path: format!("{directory}/.") };
        let (engine, archive) = (self.clone(), self.docker.download_from_container(container, Some(options)));
        Ok(archive.map(move |chunk| chunk.map_err(|error| io::Error::other(engine.error(error)))).boxed())
    }
}

fn check(directory: &str) -> Result<(), EngineError> {
    if is_mount_path(directory) {
        return Ok(());
    }
    let text = "it must be absolute, and neither the root nor a directory of the system such as /etc";
    Err(EngineError::BadParameter(format!("the files of the directory {directory:?} cannot be read: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_directories_of_the_system_are_refused() {
        for directory in ["", "/", "work", "/etc", "/proc/self", "/home/../etc", "/work/."] {
            let error = check(directory).unwrap_err();
            assert!(matches!(&error, EngineError::BadParameter(text) if text.contains("/etc")), "{error}");
        }
        for directory in ["/work", "/home/jovyan"] {
            assert_eq!(check(directory), Ok(()));
        }
    }
}
