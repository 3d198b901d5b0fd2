//! The context: data that all Workshops of an open container fleet share.

use std::path::PathBuf;

use launcher_domain::material_source::SECRETS_FOLDER;
use launcher_process::stop::Stop;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::capacity::Capacity;
use super::engine::{Engine, EngineError, EngineInfo};
use super::names;
use super::pulls::Pulls;
use super::settings::ContainerSettings;
use crate::machine::{self, DataDir, OriginSettings};

/// Data that all Workshops of an open container fleet share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: ContainerSettings,
    /// The open data directory. Its identifier is the label of every container that was started from it.
    pub(crate) data_dir: DataDir,
    pub(crate) engine: Engine,
    pub(crate) engine_info: EngineInfo,
    /// True if the engine can limit the disk space of a container; empty until the engine has answered.
    pub(super) limits_disk: OnceCell<bool>,
    /// The seccomp profile of all containers, as a security option of the engine.
    pub(super) seccomp: String,
    pub(super) pulls: Pulls,
    pub(crate) capacity: Capacity,
    /// User ID of the sidecars, which own the sockets.
    pub(crate) sidecar_user: u32,
    pub(crate) stop: Stop,
}

impl Context {
    /// Directory with the sockets of a workshop's sidecar. Only the launcher and the sidecar have access.
    pub(super) fn run_dir(&self, name: &str) -> PathBuf {
        self.data_dir.layout.record(name).join("run")
    }

    /// Directory with the files of a workshop's sidecar.
    pub(super) fn config_dir(&self, name: &str) -> PathBuf {
        self.data_dir.layout.record(name).join("sidecar")
    }

    /// Directory with copies of the secrets of a workshop's course material, while the material is loaded.
    pub(super) fn secrets_dir(&self, name: &str) -> PathBuf {
        self.data_dir.layout.record(name).join(SECRETS_FOLDER)
    }

    /// True if the engine can limit the disk space of a container. Asks the engine until it has answered once. Without an
    /// answer, containers get no limit: their creation reports the problem of the engine.
    ///
    /// # Errors
    /// The engine is unreachable, or its disk is full.
    pub(super) async fn limits_disk(&self) -> Result<bool, EngineError> {
        let ask = || {
            let labels = names::disk_limit_labels(&self.data_dir.id);
            self.engine.limits_disk(&self.engine_info, &self.settings.sidecar_image, labels)
        };
        match self.limits_disk.get_or_try_init(ask).await {
            Ok(answer) => Ok(*answer),
            Err(error @ (EngineError::Unreachable { .. } | EngineError::DiskFull { .. })) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "checking disk limit of container engine failed, retrying");
                Ok(false)
            }
        }
    }

    /// Cancelled when the fleet begins to stop.
    pub(super) fn closing(&self) -> &CancellationToken {
        &self.data_dir.closing
    }
}

impl machine::Context for Context {
    fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    fn origins(&self) -> &OriginSettings {
        &self.settings.origins
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}
