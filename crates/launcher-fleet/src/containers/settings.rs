//! Settings of a container fleet, and the errors of opening it.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use launcher_process::settings::parse_bool;

use super::engine::EngineError;
use crate::machine::{DataDirError, InvalidOrigin, OriginSettings};
use crate::port::SavedFiles;

/// Options of the fleet `containers`. The comment of a field is its help text.
#[derive(Debug, Clone, Args)]
pub struct ContainerOptions {
    /// Unix socket of the Docker Engine or of Podman, with the fleet containers
    #[arg(long, env = "SERVICE_ENGINE_SOCKET", default_value = "/run/docker.sock", value_name = "SOCKET")]
    pub engine_socket: PathBuf,

    /// Image of the sidecars, with the fleet containers
    #[arg(long, env = "SERVICE_SIDECAR_IMAGE", value_name = "IMAGE", default_value = "", hide_default_value = true)]
    pub sidecar_image: String,

    /// Image of the program that places course material, with the fleet containers; default: workshops start without it
    #[arg(long, env = "SERVICE_MATERIAL_IMAGE", value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    pub material_image: Option<String>,

    /// User ID of apps with the security profile restricted, with the fleet containers
    #[arg(long, env = "SERVICE_RUN_AS_USER", default_value = "1000", value_name = "UID")]
    pub run_as_user: NonZeroU32,

    /// Workshops may connect to the internet, with the fleet containers; false gives them no network
    #[arg(long, env = "SERVICE_CONTAINER_INTERNET", default_value = "true", value_name = "BOOL",
          value_parser = parse_bool, action = clap::ArgAction::Set)]
    pub container_internet: bool,
}

/// Settings of a container fleet.
#[derive(Debug, Clone)]
pub struct ContainerSettings {
    /// The data directory. It contains `fleet/`: the state of each Workshop, and the sockets of its sidecar. The engine
    /// mounts the sockets into the sidecars, so the engine must see the directory at the same path as the launcher.
    pub data_dir: PathBuf,
    /// The origins of launcher and workshops, and the rules for the owner's access.
    pub origins: OriginSettings,
    /// Options of this kind of fleet.
    pub options: ContainerOptions,
    /// The program that checks course material before a template names it, if it is installed beside the launcher.
    pub material: PathBuf,
    /// Source of the saved files with which workshops can start; `None`: the fleet refuses such workshops.
    pub saved_files: Option<Arc<dyn SavedFiles>>,
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
