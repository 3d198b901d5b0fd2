//! For `launcher doctor`: checks that the programs of the app types run.

use std::process::Stdio;

use launcher_domain::{AppType, FailureRemedy};
use tokio::process::Command;

use super::command::inherited;
use crate::local::settings::LocalSettings;

/// Error of a program that workshops need: it is missing or fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} {problem}")]
pub struct ProgramFault {
    /// The program as in the settings.
    pub program: String,
    /// The problem, as a phrase that follows the program's name.
    pub problem: String,
    /// Advice for the user.
    pub remedy: FailureRemedy,
}

/// Runs the program of this app type with `--version`, and returns the output. `None` for `custom`, because each
/// template of that type names a program.
///
/// # Errors
/// [`ProgramFault`] if the program is missing or fails.
pub(crate) async fn check_program(settings: &LocalSettings, app: AppType) -> Result<Option<String>, ProgramFault> {
    let (program, remedy) = match app {
        AppType::Notebook => (&settings.jupyter, FailureRemedy::InstallJupyter),
        AppType::Rstudio => (&settings.rstudio, FailureRemedy::InstallRstudio),
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

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("(no output)").to_owned()
}
