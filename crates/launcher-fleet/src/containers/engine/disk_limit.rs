//! Disk space of a container: finds out if the engine can limit it.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, HostConfig};

use super::{Engine, EngineError, EngineKind, LONG};

impl Engine {
    /// True if an engine of this kind can limit the disk space of a container: Docker Engine with the storage driver `btrfs`
    /// or `zfs`, or with `overlay2` on XFS with project quotas.
    ///
    /// False for Podman: after a refused limit, Podman 4.3 keeps a part of the container, and cannot list containers.
    ///
    /// The launcher may run in a container, and then does not see the engine's file system. So this call creates a
    /// container of this image with a limit, and removes it. The labels identify the container if the launcher is killed
    /// meanwhile.
    ///
    /// # Errors
    /// The engine gives no answer now: it is unreachable, its disk is full, or it lacks the image.
    pub async fn limits_disk(
        &self,
        kind: EngineKind,
        image: &str,
        labels: HashMap<String, String>,
    ) -> Result<bool, EngineError> {
        if kind == EngineKind::Podman {
            return Ok(false);
        }
        let storage_opt = Some(HashMap::from([("size".to_owned(), "1G".to_owned())]));
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            // The container never starts, but an image without a command is refused.
            cmd: Some(vec!["none".to_owned()]),
            labels: Some(labels),
            host_config: Some(HostConfig { storage_opt, ..HostConfig::default() }),
            ..ContainerCreateBody::default()
        };
        match self.limited(LONG, self.docker.create_container(None, body)).await {
            Ok(created) => {
                self.remove(&created.id).await?;
                Ok(true)
            }
            Err(
                error @ (EngineError::Unreachable { .. } | EngineError::DiskFull { .. } | EngineError::NotFound(_)),
            ) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "the container engine does not limit the disk space of workshops");
                Ok(false)
            }
        }
    }
}
