//! The keeper: the small parent process of an app. All processes that the app starts remain its descendants.
//!
//! The keeper is a child subreaper: the kernel reparents every orphaned descendant to the keeper. A process of the app
//! thus remains a descendant even after it has left the process group (`setsid`), forked twice, or cleared its
//! environment. The launcher finds these processes through the keeper. The keeper terminates no process, and exits
//! after its last descendant. It survives the launcher, and the next launcher finds it by its marker.
//!
//! The launcher starts the keeper as a child process. The keeper writes one `Report` per line to its standard output:
//! first that the app runs or could not be started, and later how the app exited.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, wait};
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::process_id::{KEEPER_MARKER, MARKER, PersistentProcessId};

/// First argument of a keeper's command line. The app's program and arguments follow it.
pub const COMMAND: &str = "keep";
/// Name of a keeper in process lists. It has 15 bytes, the kernel's maximum.
pub(super) const NAME: &std::ffi::CStr = c"workshop-keeper";

/// Runs the keeper: starts the app, and returns when the app and all its descendants have exited. `command` is the
/// app's program and arguments. The app's output goes to the keeper's standard error, because the keeper's standard
/// output carries the reports to the launcher.
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
    // The keeper must outlive the app, also when a termination signal goes to all processes.
    survive_signals()?;
    set_child_subreaper(Some(getpid()))?;
    rustix::thread::set_name(NAME)?;
    let app = start_app(command)?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == app => report(&Report::Ended(status.as_raw())),
            Ok(_) | Err(Errno::INTR) => {}
            // `wait` fails when the keeper has no child left.
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
    // `/proc` lists the app even if it has exited, because the keeper has not reaped it yet.
    let leader = PersistentProcessId::of(child.id()).ok_or(io::ErrorKind::NotFound)?;
    let pid = leader.id.pid().ok_or(io::ErrorKind::NotFound)?;
    report(&Report::Started(leader));
    Ok(pid)
}

/// Makes termination signals ineffective by handling them. It does not set them to "ignored", because the app would
/// inherit that.
fn survive_signals() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let kinds = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()];
    // The signal handlers stay installed after this runtime is dropped.
    runtime.block_on(async { kinds.into_iter().try_for_each(|kind| signal(kind).map(drop)) })
}

/// Writes a report to the launcher. Errors are ignored, because the launcher may be gone.
fn report(report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Report {
    /// The app was started. The process is the app's first one, the leader of its process group.
    Started(PersistentProcessId),
    /// The app could not be started. The number is the system's `errno`.
    NotStarted(i32),
    /// The app has exited. The number is the system's wait status.
    Ended(i32),
}
