//! Starts an app with a keeper, receives the keeper's reports, and detects the exit of the app's leading process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use launcher_domain::FailureDetail;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::keeper::{COMMAND, NAME, Report};
use super::process_id::{KEEPER_MARKER, MARKER, PersistentProcessId};

pub(crate) struct AppStart<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<OsString, OsString>,
    /// Marker of the app's processes, which goes into their environment.
    pub(crate) marker: &'a str,
    pub(crate) working: &'a Path,
    /// File for the app's standard output and standard error.
    pub(crate) log: File,
}

/// The keeper of an app that this launcher started.
pub(crate) struct KeeperHandle {
    pub(crate) leader: PersistentProcessId,
    reports: Lines<BufReader<ChildStdout>>,
    /// Held only for its drop: tokio then reaps the keeper process when it has exited.
    _keeper: Child,
}

pub(crate) enum StartError {
    App(io::Error),
    /// The keeper cannot be started, or exited without a report.
    Keeper(io::Error),
}

impl KeeperHandle {
    /// Starts an app with a keeper. `keeper` is the path of the keeper's program. Call it within a tokio runtime, on a
    /// thread that may block.
    pub(crate) fn start(keeper: &Path, app: AppStart<'_>) -> Result<Self, StartError> {
        let mut child = spawn(keeper, app).map_err(|error| match error.kind() {
            // The app causes these errors: its arguments and environment are passed to the keeper.
            io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => StartError::App(error),
            _ => StartError::Keeper(error),
        })?;
        let silent = || StartError::Keeper(io::Error::new(io::ErrorKind::UnexpectedEof, "it exited without a report"));
        let mut reports = BufReader::new(child.stdout.take().ok_or_else(silent)?).lines();
        match Handle::current().block_on(next_report(&mut reports)) {
            Some(Report::Started(leader)) => Ok(Self { leader, reports, _keeper: child }),
            Some(Report::NotStarted(errno)) => Err(StartError::App(io::Error::from_raw_os_error(errno))),
            Some(Report::Ended(_)) | None => Err(silent()),
        }
    }
}

async fn next_report(reports: &mut Lines<BufReader<ChildStdout>>) -> Option<Report> {
    serde_json::from_str(&reports.next_line().await.ok()??).ok()
}

fn spawn(keeper: &Path, app: AppStart<'_>) -> io::Result<Child> {
    let mut command = Command::new(keeper);
    command.arg0(OsStr::from_bytes(NAME.to_bytes())).args([COMMAND, "--"]).arg(app.program).args(app.args);
    command.env_clear().envs(app.env).env(KEEPER_MARKER, app.marker).env_remove(MARKER);
    command.current_dir(app.working).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(app.log);
    tokio::process::Command::from(command).spawn()
}

/// Polling interval for an app process whose keeper does not report to this launcher.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Waits for the exit of an app's leading process.
pub(crate) enum ExitWatch {
    /// This launcher started the app's keeper, and the keeper reports the exit.
    Keeper(Box<KeeperHandle>),
    /// An earlier launcher started the app: this launcher cannot learn its exit status.
    Adopted(PersistentProcessId),
}

impl ExitWatch {
    /// Waits for the exit, and returns a sentence that describes it. Cancel-safe.
    pub(crate) async fn wait_for_exit(&mut self) -> FailureDetail {
        match self {
            Self::Keeper(keeper) => {
                if let Some(Report::Ended(status)) = next_report(&mut keeper.reports).await {
                    return exit_detail(ExitStatus::from_raw(status));
                }
                wait_until_dead(&keeper.leader).await;
                FailureDetail::KeeperKilled
            }
            Self::Adopted(process) => {
                wait_until_dead(process).await;
                FailureDetail::LauncherRestarted
            }
        }
    }
}

fn exit_detail(status: ExitStatus) -> FailureDetail {
    match status.signal() {
        Some(signal) => FailureDetail::Signal { signal: signal.to_string() },
        None => FailureDetail::ExitStatus { status: status.code().unwrap_or_default().to_string() },
    }
}

async fn wait_until_dead(process: &PersistentProcessId) {
    while process.is_alive() {
        sleep(POLL_INTERVAL).await;
    }
}
