//! Settings of a container fleet.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use launcher_process::settings::parse_bool;

use super::engine::EngineError;
use crate::machine::{MachineFleetError, MachineSettings};

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
    /// Settings of every fleet on the launcher's machine.
    pub machine: MachineSettings,
    /// Options of this kind of fleet.
    pub options: ContainerOptions,
}

impl From<EngineError> for MachineFleetError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error.to_string())
    }
}
