//! A Workshop's keeper: a small process between the launcher and an app that no descendant of the app can escape.
//!
//! The keeper is a child subreaper: the kernel reparents every orphaned descendant to it. So each process that an app
//! starts remains a descendant of the keeper, even after it has left the process group (`setsid`), forked twice, or
//! cleared its environment. The launcher finds these processes through the keeper. The keeper terminates nothing, and
//! exits after the last of them. It survives the launcher, and the next launcher finds it by its marker.
//!
//! The launcher starts it as a child. The keeper writes one [`Report`] per line to its standard output: first that the
//! app runs or could not be started, and later how the app exited.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::runtime::{Builder, Handle};
use tokio::signal::unix::{SignalKind, signal};

use super::command::AppCommand;
use super::process::{KEEPER_MARKER, MARKER, PersistentProcessId};

/// First argument of a keeper's command line; the app's program and arguments follow.
pub const COMMAND: &str = "keep";
/// Name of a keeper in process lists; the kernel truncates longer names.
const NAME: &std::ffi::CStr = c"workshop-keeper";

/// A message of a keeper to its launcher.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Report {
    /// The app was started: this process leads its group.
    Started(PersistentProcessId),
    /// The app could not be started, with the system's `errno`.
    NotStarted(i32),
    Ended(Exit),
}

/// How a process exited.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Exit {
    Status(i32),
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "It ended with status {status}."),
            Self::Signal(signal) => write!(f, "It was killed by signal {signal}."),
        }
    }
}

/// An app that was started by a keeper of this launcher.
#[derive(Debug)]
pub(super) struct KeeperHandle {
    pub(super) leader: PersistentProcessId,
    reports: Lines<BufReader<ChildStdout>>,
    /// Kept while the app is watched. tokio reaps the keeper after this handle is dropped.
    _keeper: Child,
}

/// Why an app was not started.
#[derive(Debug)]
pub(super) enum StartError {
    /// Its program cannot be started.
    App(io::Error),
    /// Its keeper cannot be started, or reports nothing.
    Keeper(io::Error),
}

impl KeeperHandle {
    /// Starts an app with a keeper; `keeper` is the keeper's program. Blocks; call it within a tokio runtime, where
    /// blocking is allowed.
    pub(super) fn start(keeper: &Path, app: &AppCommand, working: &Path, log: File) -> Result<Self, StartError> {
        let mut child = spawn(keeper, app, working, log).map_err(|error| match error.kind() {
            // The keeper gets the app's arguments and environment.
            io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => StartError::App(error),
            _ => StartError::Keeper(error),
        })?;
        let silent = || StartError::Keeper(io::Error::new(io::ErrorKind::UnexpectedEof, "it said nothing"));
        let mut reports = BufReader::new(child.stdout.take().ok_or_else(silent)?).lines();
        match Handle::current().block_on(next_report(&mut reports)) {
            Some(Report::Started(leader)) => Ok(Self { leader, reports, _keeper: child }),
            Some(Report::NotStarted(errno)) => Err(StartError::App(io::Error::from_raw_os_error(errno))),
            Some(Report::Ended(_)) | None => Err(silent()),
        }
    }

    /// Waits for the exit of the app's leading process. `None` if the keeper has exited without reporting it.
    /// Cancel-safe.
    pub(super) async fn wait_for_exit(&mut self) -> Option<Exit> {
        match next_report(&mut self.reports).await? {
            Report::Ended(exit) => Some(exit),
            Report::Started(_) | Report::NotStarted(_) => None,
        }
    }
}

async fn next_report(reports: &mut Lines<BufReader<ChildStdout>>) -> Option<Report> {
    serde_json::from_str(&reports.next_line().await.ok()??).ok()
}

fn spawn(keeper: &Path, app: &AppCommand, working: &Path, log: File) -> io::Result<Child> {
    let mut command = Command::new(keeper);
    command.arg0(OsStr::from_bytes(NAME.to_bytes())).args([COMMAND, "--"]).arg(&app.program).args(&app.args);
    command.env_clear().envs(&app.env).env(KEEPER_MARKER, &app.marker).env_remove(MARKER);
    command.current_dir(working).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    tokio::process::Command::from(command).spawn()
}

/// Runs the keeper: starts the app, and returns when the app and all its descendants have exited. `command` is the
/// app's program and arguments. The app writes to standard error; standard output goes to the launcher.
#[must_use]
pub fn run(command: impl IntoIterator<Item = OsString>) -> ExitCode {
    match keep(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&Report::NotStarted(error.raw_os_error().unwrap_or_default()));
            ExitCode::FAILURE
        }
    }
}

fn keep(command: impl IntoIterator<Item = OsString>) -> io::Result<()> {
    // The keeper must outlive the app, and may receive signals that are sent to all processes.
    survive_signals()?;
    set_child_subreaper(Some(getpid()))?;
    rustix::thread::set_name(NAME)?;
    let app = start_app(command)?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == app => {
                if let Some(exit) = exit_of(status) {
                    report(&Report::Ended(exit));
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            // No child is left.
            Err(_) => return Ok(()),
        }
    }
}

fn start_app(command: impl IntoIterator<Item = OsString>) -> io::Result<Pid> {
    let mut words = command.into_iter();
    let program = words.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut app = Command::new(program);
    if let Some(marker) = std::env::var_os(KEEPER_MARKER) {
        app.env_remove(KEEPER_MARKER).env(MARKER, marker);
    }
    app.args(words).process_group(0).stdin(Stdio::null()).stdout(io::stderr().as_fd().try_clone_to_owned()?);
    let child = app.spawn()?;
    // The process exists even if it has exited, because it has not been reaped.
    let leader = PersistentProcessId::of(child.id()).ok_or(io::ErrorKind::NotFound)?;
    let pid = leader.id.pid().ok_or(io::ErrorKind::NotFound)?;
    report(&Report::Started(leader));
    Ok(pid)
}

/// Makes termination signals ineffective. They are handled and not ignored, because the app would inherit ignored
/// signals.
fn survive_signals() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()];
    // The handlers outlive this runtime.
    runtime.block_on(async { kinds.into_iter().try_for_each(|kind| signal(kind).map(drop)) })
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    status.exit_status().map(Exit::Status).or_else(|| status.terminating_signal().map(Exit::Signal))
}

/// Writes a report to the launcher, which may be gone.
fn report(report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}
