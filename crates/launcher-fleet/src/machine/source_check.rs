//! Checks of course material by the program that places it, as a process beside the launcher.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use launcher_domain::template::MaterialSource;
use launcher_domain::{MATERIAL_VARIABLE, MaterialConfig, MaterialFinding};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::port::{FleetError, SourceChecks};

/// Seconds after which the program gives up.
const DEADLINE: u32 = 27;
/// Time after which the program is killed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum bytes that are read from the output of the program.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Runs the program. It has no credentials of the launcher, and writes only a file without a name.
#[derive(Debug, Clone)]
pub(crate) struct SourceChecker {
    program: PathBuf,
    /// Directory of the file.
    directory: PathBuf,
    /// Arguments of the program.
    args: &'static [&'static str],
    environment: BTreeMap<OsString, OsString>,
}

impl SourceChecker {
    /// Returns a checker that reaches all servers, if `reaches_all`, or else those with public addresses. `None` without the
    /// program.
    pub(crate) fn new(program: PathBuf, directory: PathBuf, reaches_all: bool) -> Option<Self> {
        let args: &[&str] = if reaches_all { &["check", "--all-addresses"] } else { &["check"] };
        program.is_file().then_some(Self { program, directory, args, environment: BTreeMap::new() })
    }

    /// Adds variables to the environment of the program, which has no others.
    pub(crate) fn with_environment(self, environment: BTreeMap<OsString, OsString>) -> Self {
        Self { environment, ..self }
    }

    async fn run(&self, sources: &[MaterialSource]) -> io::Result<Option<Vec<MaterialFinding>>> {
        let config = MaterialConfig {
            directory: self.directory.to_string_lossy().into_owned(),
            sources: sources.to_vec(),
            deadline_seconds: DEADLINE,
            report: None,
            secrets: None,
        };
        let mut child = Command::new(&self.program)
            .args(self.args)
            .env_clear()
            .envs(&self.environment)
            .env(MATERIAL_VARIABLE, serde_json::to_string(&config)?)
            .current_dir(&self.directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MAX_OUTPUT).read_to_end(&mut output).await?;
        }
        child.wait().await?;
        let findings = MaterialFinding::parse_all(&String::from_utf8_lossy(&output));
        Ok(findings.filter(|findings| findings.len() == sources.len()))
    }
}

#[async_trait]
impl SourceChecks for SourceChecker {
    async fn check(&self, sources: &[MaterialSource]) -> Result<Vec<MaterialFinding>, FleetError> {
        match timeout(TIMEOUT, self.run(sources)).await {
            Ok(Ok(Some(findings))) => Ok(findings),
            Ok(Ok(None)) => Err(FleetError::Unavailable("the program launcher-material has no answer".to_owned())),
            Ok(Err(error)) => Err(FleetError::Unavailable(format!("{}: {error}", self.program.display()))),
            Err(_) => Err(FleetError::Unavailable("the program launcher-material took too long".to_owned())),
        }
    }
}
