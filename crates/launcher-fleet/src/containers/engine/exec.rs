//! Programs that run in a container beside its main process.

use std::time::Duration;

use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::time::Instant;

use super::container::is_command_error;
use super::{Engine, EngineError, SHORT};

/// Maximum characters of the output.
const OUTPUT_CHARACTERS: usize = 2000;
/// Interval of the inspections until the engine knows the exit code: Podman stores it after the end of the output.
const EXIT_CODE_INTERVAL: Duration = Duration::from_millis(50);

/// Result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecOutcome {
    /// Exit code.
    pub exit_code: i64,
    /// First characters of standard output and standard error.
    pub output: String,
}

/// The fields of an inspected program.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    running: bool,
    exit_code: Option<i64>,
}

impl Engine {
    /// Runs a program as root with all capabilities in a running container, and waits for its end.
    ///
    /// # Errors
    /// [`EngineError::CommandNotStarted`]: the program does not exist in the container.
    pub async fn exec_privileged(&self, name: &str, command: &[String]) -> Result<ExecOutcome, EngineError> {
        let deadline = Instant::now() + SHORT;
        let options = CreateExecOptions {
            cmd: Some(command.to_vec()),
            user: Some("0".to_owned()),
            privileged: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            ..CreateExecOptions::default()
        };
        let id = self.limited(SHORT, self.docker.create_exec(name, options)).await?.id;
        let started = self.limited(SHORT, self.docker.start_exec(&id, None::<StartExecOptions>)).await;
        let output = self.read_output(started?, deadline).await?;
        loop {
            let state: Inspected = self.get(&format!("/exec/{id}/json")).await?;
            match (state.running, state.exit_code) {
                // The engines report a missing program as output.
                (false, Some(126 | 127)) if is_command_error(&output) => {
                    return Err(EngineError::CommandNotStarted(output));
                }
                (false, Some(exit_code)) => return Ok(ExecOutcome { exit_code, output }),
                _ if Instant::now() > deadline => return Err(EngineError::no_answer(&self.socket, SHORT)),
                _ => tokio::time::sleep(EXIT_CODE_INTERVAL).await,
            }
        }
    }

    /// Reads the output to its end. Keeps the first characters.
    async fn read_output(&self, started: StartExecResults, deadline: Instant) -> Result<String, EngineError> {
        let StartExecResults::Attached { mut output, input: _input } = started else {
            return Ok(String::new());
        };
        let mut read = Vec::new();
        loop {
            match tokio::time::timeout_at(deadline, output.next()).await {
                Err(_) => return Err(EngineError::no_answer(&self.socket, SHORT)),
                Ok(None) => break,
                Ok(Some(Err(error))) => return Err(self.error(error)),
                // A character has at most four bytes.
                Ok(Some(Ok(part))) if read.len() < 4 * OUTPUT_CHARACTERS => read.extend_from_slice(&part.into_bytes()),
                Ok(Some(Ok(_))) => {}
            }
        }
        Ok(String::from_utf8_lossy(&read).chars().take(OUTPUT_CHARACTERS).collect())
    }
}
