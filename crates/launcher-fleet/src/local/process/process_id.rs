//! Reads processes from `/proc`: their identity, state and marker.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// Environment variable with the marker, which identifies the Workshop of an app's process. Child processes inherit it,
/// unless the app clears their environment.
pub(crate) const MARKER: &str = "WORKSHOP_LAUNCHER_ID";
/// Environment variable with the marker of a Workshop's keeper. It differs from [`MARKER`], because the keeper is not a
/// process of the app.
pub(crate) const KEEPER_MARKER: &str = "WORKSHOP_LAUNCHER_KEEPER";

/// Identifies one process uniquely, also after a reboot. A PID alone is not enough, because the kernel reuses PIDs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersistentProcessId {
    #[serde(flatten)]
    pub(crate) id: ProcessId,
    boot: String,
}

/// Identifies one process uniquely until the next reboot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: i32,
    /// Start time in clock ticks since boot.
    started: u64,
}

pub(crate) struct ProcessMarker {
    pub(crate) marker: String,
    /// True for the Workshop's keeper, false for its app and the app's descendants.
    pub(crate) is_keeper: bool,
}

/// Fields of `/proc/{pid}/stat`.
pub(super) struct Stat {
    state: char,
    pub(super) parent: i32,
    pub(super) group: i32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the program's name in parentheses. It may contain spaces and parentheses, so start after
        // the last parenthesis.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self { state, parent, group, started })
    }

    /// True if the process still runs. A zombie has exited.
    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

impl PersistentProcessId {
    /// Returns the identity of the process that has this PID now.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let started = Stat::read(pid)?.started;
        Some(Self { id: ProcessId { pid, started }, boot: boot_id()? })
    }

    /// Returns the identity within this boot, or `None` if the process ran before the last reboot.
    pub(crate) fn of_this_boot(&self) -> Option<ProcessId> {
        (boot_id().as_ref() == Some(&self.boot)).then_some(self.id)
    }

    /// True if this process still runs. Another process with the same PID does not count.
    pub(crate) fn is_alive(&self) -> bool {
        self.of_this_boot().is_some_and(ProcessId::is_alive)
    }
}

impl ProcessId {
    pub(crate) fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    pub(crate) fn is_older_than(self, other: Self) -> bool {
        self.started < other.started
    }

    pub(crate) fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.started == self.started && stat.is_alive())
    }

    /// Reads the marker from the environment of the process. `None` also if the environment is not readable, for
    /// example for a process of another user.
    pub(crate) fn read_marker(self) -> Option<ProcessMarker> {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let value = |name: &str| {
            let mut lines = environment.split(|byte| *byte == 0);
            let held = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            String::from_utf8(held.to_vec()).ok()
        };
        let of_keeper = || value(KEEPER_MARKER).map(|marker| ProcessMarker { marker, is_keeper: true });
        value(MARKER).map(|marker| ProcessMarker { marker, is_keeper: false }).or_else(of_keeper)
    }

    /// Returns the inodes of the sockets that the process holds. The list is empty if the process has exited or is not
    /// readable.
    pub(crate) fn sockets(self) -> Vec<u64> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.pid)).into_iter().flatten().flatten();
        let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        let sockets = links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        let sockets = sockets.collect();
        // The kernel may have reused the PID during the loop. The sockets then belong to another process.
        if self.is_alive() { sockets } else { Vec::new() }
    }

    /// Sends a signal to this process, and never to another process with the same PID. Does nothing after its exit.
    pub(crate) fn signal(self, signal: Signal) {
        let Some(pid) = self.pid() else { return };
        // The descriptor always refers to one process. The check below and the signal thus reach the same process.
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive()
            && let Err(error) = pidfd_send_signal(&descriptor, signal)
        {
            tracing::debug!(pid = self.pid, %error, "sending a signal to a process failed");
        }
    }
}

/// Lists all running processes except the launcher.
pub(super) fn running_processes() -> impl Iterator<Item = (ProcessId, Stat)> {
    let own = getpid().as_raw_nonzero().get();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| *pid != own).filter_map(|pid| {
        let stat = Stat::read(pid).filter(Stat::is_alive)?;
        Some((ProcessId { pid, started: stat.started }, stat))
    })
}

fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}
