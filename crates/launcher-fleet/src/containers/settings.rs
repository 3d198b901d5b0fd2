//! Settings of a container fleet, and the errors of opening it.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::engine::EngineError;
use crate::machine::{DataDirError, InvalidOrigin, OriginSettings};

/// Settings of a container fleet.
#[derive(Debug, Clone)]
pub struct ContainerSettings {
    /// The data directory. It contains `fleet/`: the state of each Workshop, and the sockets of its sidecar. The engine
    /// mounts the sockets into the sidecars, so the engine must see the directory at the same path as the launcher.
    pub data_dir: PathBuf,
    /// The origins of launcher and workshops, and the rules for the owner's access.
    pub origins: OriginSettings,
    /// Unix socket of the engine's API.
    pub engine_socket: PathBuf,
    /// Image of the sidecar.
    pub sidecar_image: String,
    /// Image of the program that places course material; `None`: workshops start without course material.
    pub material_image: Option<String>,
    /// User ID for apps with the security profile `restricted`.
    pub run_as_user: NonZeroU32,
    /// True if workshops may connect to the internet. They never reach private addresses or this machine.
    pub internet: bool,
    /// Maximum time from the start of an app until it answers.
    pub start_timeout: Duration,
    /// Grace period of apps between SIGTERM and SIGKILL.
    pub stop_grace: Duration,
}

impl ContainerSettings {
    /// Makes the data directory absolute, and checks the settings.
    pub(super) fn checked(mut self) -> Result<Self, ContainerFleetError> {
        self.origins.check()?;
        self.data_dir = DataDirError::at(&self.data_dir, std::path::absolute(&self.data_dir))?;
        Ok(self)
    }
}

/// Error of opening or examining a container fleet.
#[derive(Debug, thiserror::Error)]
pub enum ContainerFleetError {
    /// The data directory is in use or unusable.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The public address has no scheme or no host.
    #[error(transparent)]
    PublicOrigin(#[from] InvalidOrigin),
    /// The container engine does not answer, or refuses a request.
    #[error("{0}")]
    Engine(String),
}

impl From<EngineError> for ContainerFleetError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.to_string())
    }
}
