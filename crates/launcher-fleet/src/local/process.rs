//! Processes in `/proc`: their identity, state and marker.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Environment variable that identifies a process's Workshop. Child processes inherit it, unless the app clears it.
pub(super) const MARKER: &str = "WORKSHOP_LAUNCHER_ID";
/// The same for a Workshop's keeper, which is not a process of the app.
pub(super) const KEEPER_MARKER: &str = "WORKSHOP_LAUNCHER_KEEPER";

/// Identifies one process uniquely. A PID alone may be reused later, or after a reboot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PersistentProcessId {
    #[serde(flatten)]
    pub(super) id: ProcessId,
    /// Boot ID of the machine.
    boot: String,
}

/// Identifies one process since the machine booted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ProcessId {
    pid: i32,
    /// Start time in clock ticks since boot.
    started: u64,
}

/// A running process, with its parent and its process group.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningProcess {
    pub(super) process: ProcessId,
    pub(super) parent: i32,
    pub(super) group: i32,
}

/// The marker of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessMarker {
    pub(super) marker: String,
    /// True for the Workshop's keeper, false for its app and the app's descendants.
    pub(super) is_keeper: bool,
}

/// Fields of `/proc/{pid}/stat`.
struct Stat {
    state: char,
    parent: i32,
    group: i32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the program's name in parentheses and may contain anything, so parse after its end.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self { state, parent, group, started })
    }

    /// True if it still runs. A zombie does not.
    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

impl PersistentProcessId {
    /// The process that has this PID now.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let started = Stat::read(pid)?.started;
        Some(Self { id: ProcessId { pid, started }, boot: boot_id()? })
    }

    /// The identity since boot; `None` if it belongs to another boot.
    pub(super) fn of_this_boot(&self) -> Option<ProcessId> {
        (boot_id().as_ref() == Some(&self.boot)).then_some(self.id)
    }

    /// True if exactly this process still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.of_this_boot().is_some_and(ProcessId::is_alive)
    }
}

impl ProcessId {
    pub(super) fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    pub(super) fn is_older_than(self, other: Self) -> bool {
        self.started < other.started
    }

    pub(super) fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.started == self.started && stat.is_alive())
    }

    /// The marker in its environment; `None` also if the environment is not readable, as another user's.
    pub(super) fn read_marker(self) -> Option<ProcessMarker> {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let value = |name: &str| {
            let mut lines = environment.split(|byte| *byte == 0);
            let held = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            String::from_utf8(held.to_vec()).ok()
        };
        let of_keeper = || value(KEEPER_MARKER).map(|marker| ProcessMarker { marker, is_keeper: true });
        value(MARKER).map(|marker| ProcessMarker { marker, is_keeper: false }).or_else(of_keeper)
    }

    /// The sockets (by inode) that it holds; none if it has exited or is not readable.
    pub(super) fn sockets(self) -> Vec<u64> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.pid)).into_iter().flatten().flatten();
        let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        let sockets = links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        let sockets = sockets.collect();
        // Its PID may have been reused meanwhile.
        if self.is_alive() { sockets } else { Vec::new() }
    }

    /// Sends a signal to exactly this process; does nothing if it has exited.
    pub(super) fn signal(self, signal: Signal) {
        let Some(pid) = self.pid() else { return };
        // The descriptor refers to one process permanently, so the checked process is the signalled one.
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive()
            && let Err(error) = pidfd_send_signal(&descriptor, signal)
        {
            tracing::debug!(pid = self.pid, %error, "sending signal failed");
        }
    }
}

/// All running processes except this program.
pub(super) fn running_processes() -> impl Iterator<Item = RunningProcess> {
    let own = getpid().as_raw_nonzero().get();
    pids().filter(move |pid| *pid != own).filter_map(|pid| {
        let stat = Stat::read(pid).filter(Stat::is_alive)?;
        let process = ProcessId { pid, started: stat.started };
        Some(RunningProcess { process, parent: stat.parent, group: stat.group })
    })
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}
