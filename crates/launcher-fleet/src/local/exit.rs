//! Noticing that a Workshop's leading process ends.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{PidfdFlags, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::process::Child;

use super::process::ProcessId;

/// Waits for one process.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// Started by this program.
    Child(Child),
    /// Started by a program before this one: how it ended is not told to us.
    Adopted(AsyncFd<OwnedFd>),
}

impl ExitWatch {
    /// Watches a process that somebody else started; `None` when it does not run any more.
    pub(super) fn adopt(process: &ProcessId) -> io::Result<Option<Self>> {
        let Some(pid) = process.number.pid() else { return Ok(None) };
        let descriptor = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(descriptor) => descriptor,
            Err(rustix::io::Errno::SRCH) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Asked after the descriptor was opened: it is of this process, not of a later one with its number.
        if !process.is_alive() {
            return Ok(None);
        }
        AsyncFd::new(descriptor).map(|descriptor| Some(Self::Adopted(descriptor)))
    }

    /// Waits until it has ended, and says how, as a sentence. May be called again after it was dropped half-way.
    pub(super) async fn ended(&mut self) -> String {
        match self {
            Self::Child(child) => match child.wait().await {
                Ok(status) => describe(status),
                Err(error) => format!("How it ended is unknown ({error})."),
            },
            Self::Adopted(descriptor) => match descriptor.readable().await {
                Ok(_) => "How it ended is unknown: the launcher was started anew in the meantime.".to_owned(),
                Err(error) => format!("How it ended is unknown ({error})."),
            },
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("It ended with status {code}."),
        (None, Some(signal)) => format!("It was killed by signal {signal}."),
        (None, None) => "How it ended is unknown.".to_owned(),
    }
}
