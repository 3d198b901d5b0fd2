//! Checks of course material by the program that places it, as a process beside the launcher, with all fleets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use launcher_domain::network::Network;
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
pub struct SourceChecker {
    program: PathBuf,
    directory: PathBuf,
    args: Vec<String>,
    environment: BTreeMap<OsString, OsString>,
}

impl SourceChecker {
    /// Returns a checker that reaches the servers with public addresses outside of these networks. `None` without the program.
    #[must_use]
    pub fn of_public_servers(program: PathBuf, directory: PathBuf, except: &[Network]) -> Option<Self> {
        let except = except.iter().map(Network::to_string).collect::<Vec<_>>().join(",");
        let args = if except.is_empty() { Vec::new() } else { vec!["--except".to_owned(), except] };
        program.is_file().then_some(Self { program, directory, args, environment: BTreeMap::new() })
    }

    /// Returns a checker that reaches all servers. Its program has these variables. `None` without the program.
    pub(crate) fn of_all_servers(
        program: PathBuf,
        directory: PathBuf,
        environment: BTreeMap<OsString, OsString>,
    ) -> Option<Self> {
        let args = vec!["--all-addresses".to_owned()];
        program.is_file().then_some(Self { program, directory, args, environment })
    }

    async fn run(&self, sources: &[MaterialSource]) -> io::Result<Option<Vec<MaterialFinding>>> {
        let config = MaterialConfig {
            directory: self.directory.to_string_lossy().into_owned(),
            sources: sources.to_vec(),
            deadline_seconds: DEADLINE,
            report: None,
            secrets: None,
        };
        let mut child = separate(&self.program, &self.directory, &self.environment)
            .arg("check")
            .args(&self.args)
            .env(MATERIAL_VARIABLE, serde_json::to_string(&config)?)
            .stdout(Stdio::piped())
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

/// Returns the command of a program in its own process group, with this directory and these variables, and without input and
/// output. It is killed when its process is dropped.
pub(crate) fn separate(program: &Path, directory: &Path, environment: &BTreeMap<OsString, OsString>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(environment).current_dir(directory).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
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

#[cfg(test)]
mod tests {
    use launcher_domain::template::MaterialKind;

    use super::*;

    /// Returns the arguments and the names of the variables that the program of this checker gets.
    async fn command(checker: Option<SourceChecker>) -> String {
        let source = MaterialSource {
            kind: MaterialKind::Git,
            url: "https://git.example.org/101.git".to_owned(),
            reference: None,
            sha256: None,
            folder: None,
            secret: None,
            target: "101".to_owned(),
        };
        let mut findings = checker.unwrap().check(&[source]).await.unwrap();
        findings.pop().unwrap().reference.unwrap()
    }

    #[tokio::test]
    async fn program_gets_its_addresses_and_no_variable_of_the_launcher() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test has variables");
        let program = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/check.sh"));
        let directory = tempfile::tempdir().unwrap();
        let public =
            |except: &[Network]| SourceChecker::of_public_servers(program.clone(), directory.path().to_owned(), except);
        assert_eq!(command(public(&[])).await, "check: WORKSHOP_MATERIAL");
        let except = ["203.0.113.0/24", "198.51.100.7/32"].map(|network| network.parse().unwrap());
        let expected = "check --except 203.0.113.0/24,198.51.100.7/32: WORKSHOP_MATERIAL";
        assert_eq!(command(public(&except)).await, expected);
        let environment = [("LANG".into(), "C".into())].into();
        let all = SourceChecker::of_all_servers(program.clone(), directory.path().to_owned(), environment);
        assert_eq!(command(all).await, "check --all-addresses: LANG WORKSHOP_MATERIAL");
        assert!(SourceChecker::of_public_servers(program.with_extension("missing"), PathBuf::new(), &[]).is_none());
    }
}
