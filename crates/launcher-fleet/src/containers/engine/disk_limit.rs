//! Disk space of a container: finds out if the engine can limit it.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, HostConfig};

use super::{Engine, EngineError, EngineInfo, EngineKind, LONG};

/// Storage drivers of Docker Engine that can limit the disk space of a container.
const DRIVERS: [&str; 3] = ["btrfs", "overlay2", "zfs"];

impl Engine {
    /// True if this engine can limit the disk space of a container: Docker Engine with the storage driver `btrfs` or `zfs`,
    /// or with `overlay2` on XFS with project quotas.
    ///
    /// False for Podman: after a refused limit, Podman 4.3 keeps a part of the container, and cannot list containers.
    /// False for Docker Engine with containerd's image store, which accepts the limit and ignores it.
    ///
    /// The launcher may run in a container, and then does not see the engine's file system. So this call creates a
    /// container of this image with a limit, and removes it. The labels identify the container if the launcher is killed
    /// meanwhile.
    ///
    /// # Errors
    /// The engine gives no answer now: it is unreachable, its disk is full, it lacks the image, or it refuses the container
    /// for a reason that is not the limit.
    pub async fn limits_disk(
        &self,
        info: &EngineInfo,
        image: &str,
        labels: HashMap<String, String>,
    ) -> Result<bool, EngineError> {
        let can_limit = info.kind == EngineKind::Docker
            && !info.containerd_image_store
            && DRIVERS.contains(&info.storage_driver.as_str());
        if !can_limit {
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
            Err(error) if is_limit_refused(&error) => {
                tracing::warn!(%error, "the container engine does not limit the disk space of workshops");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// True if the engine refuses the limit itself, for example with "--storage-opt is supported only for overlay over xfs
/// with 'pquota' mount option".
fn is_limit_refused(error: &EngineError) -> bool {
    let message = error.message().to_ascii_lowercase();
    ["storage-opt", "storage opt", "quota"].iter().any(|text| message.contains(text))
        && !matches!(error, EngineError::Unreachable { .. } | EngineError::DiskFull { .. })
}
