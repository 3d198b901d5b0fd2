//! For `launcher doctor`: examines this machine and a data directory without changing them.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Stdio;

use launcher_domain::AppType;
use launcher_domain::clock::SystemEntropy;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::process::Command;

use super::command::{RSTUDIO_REMEDY, inherited};
use super::jupyter;
use super::layout::Layout;
use super::ports::PortPool;
use super::settings::{LocalFleetError, LocalSettings};

/// The examined local fleet.
#[derive(Debug)]
pub struct LocalExamination {
    settings: LocalSettings,
    layout: Layout,
}

/// A program that workshops need and that does not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} {problem}")]
pub struct ProgramFault {
    /// The program as in the settings.
    pub program: String,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl LocalExamination {
    /// Examines the fleet that [`LocalFleet::open`](super::LocalFleet::open) would open.
    ///
    /// # Errors
    /// [`LocalFleetError`]: a setting that it would refuse.
    pub fn new(settings: LocalSettings) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.data_dir);
        Ok(Self { settings, layout })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    ///
    /// # Errors
    /// [`LocalFleetError::Directory`].
    pub fn identity(&self) -> Result<Option<String>, LocalFleetError> {
        let path = self.layout.id();
        if_there(&path, fs::read_to_string(&path)).map(|id| id.map(|id| id.trim().to_owned()))
    }

    /// True if a launcher is using the data directory.
    ///
    /// # Errors
    /// [`LocalFleetError::Directory`].
    pub fn is_in_use(&self) -> Result<bool, LocalFleetError> {
        let path = self.layout.lock();
        let Some(file) = if_there(&path, File::open(&path))? else { return Ok(false) };
        // Released at once; a launcher that starts at this moment retries.
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(LocalFleetError::Directory { path, source: error.into() }),
        }
    }

    /// A port that the next workshop could get; `None` if all are taken.
    #[must_use]
    pub fn free_port(&self) -> Option<u16> {
        Some(PortPool::of_this_machine().allocate(&SystemEntropy)?.port())
    }

    /// Runs the program that workshops of this kind need, and returns its version output; `None` for `custom`, whose
    /// templates name their own programs.
    ///
    /// # Errors
    /// [`ProgramFault`].
    pub async fn version(&self, app: AppType) -> Result<Option<String>, ProgramFault> {
        let (program, remedy) = match app {
            AppType::Notebook => (&self.settings.jupyter, jupyter::REMEDY),
            AppType::Rstudio => (&self.settings.rstudio, RSTUDIO_REMEDY),
            AppType::Custom => return Ok(None),
        };
        let fault = |problem| ProgramFault { program: program.display().to_string(), problem, remedy };
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
            let said = last_line(&output.stderr);
            return Err(fault(format!("--version ends with {}: {said}", output.status)));
        }
        Ok(Some(format!("{} {}", program.display(), last_line(&output.stdout))))
    }
}

fn if_there<T>(path: &Path, outcome: io::Result<T>) -> Result<Option<T>, LocalFleetError> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LocalFleetError::Directory { path: path.to_owned(), source }),
    }
}

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it says nothing").to_owned()
}
