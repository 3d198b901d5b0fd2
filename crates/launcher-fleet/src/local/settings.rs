//! Settings of a local fleet, and the errors of opening it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::machine::{DataDirError, InvalidOrigin, OriginSettings};
use crate::port::SavedFiles;

/// Programs of the apps of the local fleet. The comment of a field is its help text.
#[derive(Debug, Clone, Args)]
pub struct LocalPrograms {
    /// JupyterLab program of the local fleet: a path, or a name in PATH
    #[arg(long, env = "SERVICE_LOCAL_JUPYTER", default_value = "jupyter-lab", value_name = "PROGRAM")]
    pub local_jupyter: PathBuf,

    /// RStudio Server program of the local fleet: a path, or a name in PATH
    #[arg(long, env = "SERVICE_LOCAL_RSTUDIO", default_value = "rserver", value_name = "PROGRAM")]
    pub local_rstudio: PathBuf,
}

/// Settings of a local fleet.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// The data directory. It contains `fleet/` (state and logs), and `workshops/{k8s_name}/` (the working directories,
    /// which are removed with their Workshops).
    pub data_dir: PathBuf,
    /// The origins of launcher and workshops, and the rules for the owner's access.
    pub origins: OriginSettings,
    /// Programs of the apps.
    pub programs: LocalPrograms,
    /// The program that runs as keeper. It must call [`keeper::run`](crate::keeper::run) if its first argument is
    /// [`keeper::COMMAND`](crate::keeper::COMMAND).
    pub keeper: PathBuf,
    /// The program that places course material and saved files. Without it, workshops start without their material, and
    /// those with saved files fail.
    pub material: PathBuf,
    /// Time after which that program is killed. It gives up 5 seconds before.
    pub material_timeout: Duration,
    /// Source of the saved files with which workshops can start; `None`: the fleet refuses such workshops.
    pub saved_files: Option<Arc<dyn SavedFiles>>,
    /// Maximum time from the start of an app until it answers.
    pub start_timeout: Duration,
    /// Grace period of processes between SIGTERM and SIGKILL.
    pub stop_grace: Duration,
}

impl LocalSettings {
    /// Makes all paths absolute, because apps start in other working directories.
    pub(super) fn absolute(mut self) -> Result<Self, LocalFleetError> {
        self.origins.check()?;
        let absolute = |path: &Path| DataDirError::at(path, std::path::absolute(path));
        self.data_dir = absolute(&self.data_dir)?;
        let LocalPrograms { local_jupyter, local_rstudio } = &mut self.programs;
        for program in [local_jupyter, local_rstudio, &mut self.material] {
            if program.components().count() > 1 {
                *program = absolute(program)?;
            }
        }
        Ok(self)
    }
}

/// Error of opening or examining a local fleet.
#[derive(Debug, thiserror::Error)]
pub enum LocalFleetError {
    /// The data directory is in use or unusable.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The public address has no scheme or no host.
    #[error(transparent)]
    PublicOrigin(#[from] InvalidOrigin),
}
