//! Settings of every fleet on the launcher's machine, and the errors of opening one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::data_dir::DataDirError;
use super::origins::OriginSettings;
use crate::port::SavedFiles;

/// Settings of every fleet on the launcher's machine.
#[derive(Debug, Clone)]
pub struct MachineSettings {
    /// The data directory. It contains `fleet/`: the state of each Workshop. A container engine must see it at the same path as
    /// the launcher.
    pub data_dir: PathBuf,
    /// The origins of launcher and workshops, and the rules for the owner's access.
    pub origins: OriginSettings,
    /// The program that checks and places course material. The fleet `local` also places saved files with it.
    pub material: PathBuf,
    /// Source of the saved files with which workshops can start; `None`: the fleet refuses such workshops.
    pub saved_files: Option<Arc<dyn SavedFiles>>,
    /// Maximum time from the start of an app until it answers.
    pub start_timeout: Duration,
    /// Grace period of apps between SIGTERM and SIGKILL.
    pub stop_grace: Duration,
}

impl MachineSettings {
    /// Makes the data directory absolute, because apps start in other working directories, and checks the settings.
    pub(crate) fn checked(mut self) -> Result<Self, MachineFleetError> {
        let origin = &self.origins.public_origin;
        if origin.scheme().is_none() || origin.host().is_none() {
            return Err(MachineFleetError::PublicOrigin(origin.clone()));
        }
        self.data_dir = DataDirError::at(&self.data_dir, std::path::absolute(&self.data_dir))?;
        Ok(self)
    }
}

/// Error of opening or examining a fleet on the launcher's machine.
#[derive(Debug, thiserror::Error)]
pub enum MachineFleetError {
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error("the public address {0} has no scheme or no host: write it as in http://localhost:8000")]
    PublicOrigin(http::Uri),
    /// The container engine does not answer, or refuses a request.
    #[error("{0}")]
    Engine(String),
}
