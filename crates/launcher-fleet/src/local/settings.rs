//! Settings of a local fleet.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::machine::{DataDirError, MachineFleetError, MachineSettings};

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
    pub machine: MachineSettings,
    pub programs: LocalPrograms,
    /// The program that runs as keeper. It must call [`keeper::run`](crate::keeper::run) if its first argument is
    /// [`keeper::COMMAND`](crate::keeper::COMMAND).
    pub keeper: PathBuf,
    /// Time after which the program that loads course material is killed. It gives up 5 seconds before.
    pub material_timeout: Duration,
}

impl LocalSettings {
    /// Makes all paths absolute, because apps start in other working directories.
    pub(super) fn absolute(mut self) -> Result<Self, MachineFleetError> {
        self.machine = self.machine.checked()?;
        let LocalPrograms { local_jupyter, local_rstudio } = &mut self.programs;
        for program in [local_jupyter, local_rstudio, &mut self.machine.material] {
            if program.components().count() > 1 {
                *program = DataDirError::at(program, std::path::absolute(&*program))?;
            }
        }
        Ok(self)
    }
}
