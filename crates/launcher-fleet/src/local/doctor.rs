//! For `launcher doctor`: examines this machine, a data directory and the programs of the app types without changing them.

use std::process::Stdio;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::{AppType, FailureRemedy};
use tokio::process::Command;

use super::ports::PortPool;
use super::settings::LocalSettings;
use super::workload::inherited;
use crate::machine::{Layout, MachineFleetError, is_in_use, stored_identity};

/// The examined local fleet. A call fails if [`LocalFleet::open`](super::LocalFleet::open) would refuse a setting, or if a file
/// of the data directory cannot be read.
#[derive(Debug)]
pub struct LocalExamination {
    settings: LocalSettings,
    layout: Layout,
}

impl LocalExamination {
    /// Examines the fleet that [`LocalFleet::open`](super::LocalFleet::open) would open with these settings.
    pub fn new(settings: LocalSettings) -> Result<Self, MachineFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.machine.data_dir);
        Ok(Self { settings, layout })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    pub fn identity(&self) -> Result<Option<String>, MachineFleetError> {
        Ok(stored_identity(&self.layout)?)
    }

    /// True if a launcher is using the data directory.
    pub fn is_in_use(&self) -> Result<bool, MachineFleetError> {
        Ok(is_in_use(&self.layout)?)
    }

    /// A port that the next workshop could get; `None` if all are taken.
    #[must_use]
    pub fn free_port(&self) -> Option<u16> {
        Some(PortPool::of_this_machine().allocate(&SystemEntropy)?.port())
    }

    /// Runs the program of this app type with `--version`, and returns the output. `None` for `custom`, because each
    /// template of that type names a program.
    pub async fn version(&self, app: AppType) -> Result<Option<String>, ProgramFault> {
        let (program, remedy) = match app {
            AppType::Notebook => (&self.settings.programs.local_jupyter, FailureRemedy::InstallJupyter),
            AppType::Rstudio => (&self.settings.programs.local_rstudio, FailureRemedy::InstallRstudio),
            AppType::Custom => return Ok(None),
        };
        let fault = |problem| ProgramFault { program: program.display().to_string(), problem, remedy: remedy.clone() };
        let output = Command::new(program)
            .arg("--version")
            .env_clear()
            .envs(inherited(std::env::vars_os()))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|error| fault(format!("cannot be started: {error}")))?;
        if !output.status.success() {
            let message = last_line(&output.stderr);
            return Err(fault(format!("--version failed ({}): {message}", output.status)));
        }
        Ok(Some(format!("{} {}", program.display(), last_line(&output.stdout))))
    }
}

/// Error of a program that workshops need: it is missing or fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} {problem}")]
pub struct ProgramFault {
    /// The program as in the settings.
    pub program: String,
    /// The problem, as a phrase that follows the program's name.
    pub problem: String,
    pub remedy: FailureRemedy,
}

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("(no output)").to_owned()
}
