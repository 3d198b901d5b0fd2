//! Reads the files of a volume.

use std::collections::HashMap;
use std::io;

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType};
use bollard::query_parameters::DownloadFromContainerOptions;
use futures_util::StreamExt;
use futures_util::stream::empty;

use super::{Engine, EngineError, LONG};
use crate::byte_stream::ByteStream;
use crate::containers::names::READER_LABEL;

/// Path of the volume in the container that mounts it. The dot means the files in the directory.
const PATH: &str = "/kept-work";
const FILES: &str = "/kept-work/.";

/// Removes the container when the archive was read, or its reader is gone.
struct Reader {
    engine: Engine,
    container: String,
}

impl Drop for Reader {
    fn drop(&mut self) {
        let (engine, container) = (self.engine.clone(), std::mem::take(&mut self.container));
        tokio::spawn(async move {
            if let Err(error) = engine.remove(&container).await {
                tracing::warn!(container, %error, "removing the container that read a volume failed, the next start removes it");
            }
        });
    }
}

impl Engine {
    /// Returns the files of a volume as a tar archive. The archive of a missing volume is empty.
    ///
    /// The engine reads the files: it mounts the volume into a container that never starts. So no program runs beside the
    /// files, and a launcher without root can read them. The labels of the container are only [`READER_LABEL`].
    pub async fn read_volume(&self, name: &str, fleet_id: &str, image: &str) -> Result<ByteStream, EngineError> {
        if !self.has_volume(name, fleet_id).await? {
            return Ok(empty().boxed());
        }
        let mount = Mount {
            typ: Some(MountType::VOLUME),
            source: Some(name.to_owned()),
            target: Some(PATH.to_owned()),
            read_only: Some(true),
            ..Mount::default()
        };
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            // The container never starts, but an image without a command is refused.
            cmd: Some(vec!["none".to_owned()]),
            labels: Some(HashMap::from([(READER_LABEL.to_owned(), fleet_id.to_owned())])),
            network_disabled: Some(true),
            host_config: Some(HostConfig { mounts: Some(vec![mount]), ..HostConfig::default() }),
            ..ContainerCreateBody::default()
        };
        let created = self.limited(LONG, self.docker.create_container(None, body)).await?;
        let reader = Reader { engine: self.clone(), container: created.id };
        let options = DownloadFromContainerOptions { path: FILES.to_owned() };
        let archive = self.docker.download_from_container(&reader.container, Some(options));
        let archive = archive.map(move |chunk| {
            let engine = &reader.engine;
            chunk.map_err(|error| io::Error::other(engine.error(error)))
        });
        Ok(archive.boxed())
    }

    /// Removes the containers that read volumes for an earlier launcher.
    pub async fn remove_readers(&self, fleet_id: &str) -> Result<(), EngineError> {
        for id in self.list_readers(fleet_id).await? {
            self.remove(&id).await?;
        }
        Ok(())
    }
}
