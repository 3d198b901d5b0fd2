//! Settings of a container fleet, and the errors of opening it.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::engine::EngineError;
use crate::machine::{DataDirError, InvalidOrigin, OriginSettings};

/// Maximum length of the path of a Unix socket, in bytes (`sun_path` in unix(7), without the terminating zero).
const MAX_SOCKET_PATH: usize = 107;
/// Length of the longest path below a data directory, in bytes:
/// `/fleet/workshops/{name}/run/telemetry.sock`, with a name of at most 40 bytes.
const LONGEST_SOCKET: usize = 74;

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
        if self.data_dir.as_os_str().len() + LONGEST_SOCKET > MAX_SOCKET_PATH {
            return Err(ContainerFleetError::LongPath { path: self.data_dir, most: MAX_SOCKET_PATH - LONGEST_SOCKET });
        }
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
    /// The path of the data directory is too long for the Unix sockets below it.
    #[error(
        "{path} is too long: set SERVICE_DATA_DIR to a path of at most {most} characters, for the sockets below it"
    )]
    LongPath {
        /// The data directory.
        path: PathBuf,
        /// Maximum length, in bytes.
        most: usize,
    },
    /// The container engine does not answer, or refuses a request.
    #[error("{0}")]
    Engine(String),
}

impl From<EngineError> for ContainerFleetError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.to_string())
    }
}
