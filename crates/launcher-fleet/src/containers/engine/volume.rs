//! Volumes of the engine. They have the files of owners, and outlive containers.

use std::collections::HashMap;
use std::io;

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, VolumeCreateRequest};
use bollard::query_parameters::{DownloadFromContainerOptions, RemoveVolumeOptions};
use futures_util::StreamExt;
use futures_util::stream::empty;
use serde::Deserialize;

use super::{Engine, EngineError, LONG, if_exists};
use crate::byte_stream::ByteStream;
use crate::containers::names::{FLEET_LABEL, READER_LABEL};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) labels: Option<HashMap<String, String>>,
}

impl Engine {
    /// Creates a volume with these labels, which name the fleet. If the fleet has it, the call does nothing.
    ///
    /// An engine also creates the missing volumes of a container. But it then does not check who created an existing one,
    /// and Podman sets no labels.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: another program, or another fleet, has a volume with this name.
    pub async fn create_volume(
        &self,
        name: &str,
        fleet_id: &str,
        labels: HashMap<String, String>,
    ) -> Result<(), EngineError> {
        let request =
            VolumeCreateRequest { name: Some(name.to_owned()), labels: Some(labels), ..VolumeCreateRequest::default() };
        // For a volume that exists, both engines answer with success and change no label.
        self.limited(LONG, self.docker.create_volume(request)).await?;
        match self.find_volume(name).await? {
            Some(found) => check_owner(name, &found, fleet_id),
            None => Err(EngineError::NotFound(format!("the volume {name}, which was just created"))),
        }
    }

    /// Removes a volume of this fleet with its files. A missing volume is no error.
    ///
    /// # Errors
    /// [`EngineError::Conflict`]: a container uses the volume, or the volume is not one of this fleet.
    pub async fn remove_volume(&self, name: &str, fleet_id: &str) -> Result<(), EngineError> {
        // Podman 4.3 also accepts a prefix of a name. Without this search, it would remove another volume in place of a
        // missing one.
        let Some(found) = self.find_volume(name).await? else { return Ok(()) };
        check_owner(name, &found, fleet_id)?;
        if_exists(self.limited(LONG, self.docker.remove_volume(name, None::<RemoveVolumeOptions>)).await).map(drop)
    }

    async fn find_volume(&self, name: &str) -> Result<Option<Volume>, EngineError> {
        if_exists(self.get(&format!("/volumes/{name}")).await)
    }
}

/// Refuses a volume that another program or another fleet has created.
fn check_owner(name: &str, found: &Volume, fleet_id: &str) -> Result<(), EngineError> {
    let owner = found.labels.as_ref().and_then(|labels| labels.get(FLEET_LABEL));
    if owner.is_some_and(|owner| owner == fleet_id) {
        return Ok(());
    }
    Err(EngineError::Conflict(format!(
        "the volume {name} does not have the label {FLEET_LABEL}={fleet_id} of this launcher"
    )))
}

/// Path of the volume in the container that mounts it. The dot means the files in the directory.
const MOUNT_PATH: &str = "/kept-work";
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
        let Some(found) = self.find_volume(name).await? else { return Ok(empty().boxed()) };
        check_owner(name, &found, fleet_id)?;
        let mount = Mount {
            typ: Some(MountType::VOLUME),
            source: Some(name.to_owned()),
            target: Some(MOUNT_PATH.to_owned()),
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
}
