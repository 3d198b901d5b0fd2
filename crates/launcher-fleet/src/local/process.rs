//! Processes as `/proc` tells them: which they are, whether they live, and which carry a marker.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// The environment variable that names a process's Workshop. Apps pass it on to what they start, unless they clear it.
pub(super) const MARKER: &str = "WORKSHOP_LAUNCHER_ID";
/// The same for a Workshop's keeper, which is no process of the app.
pub(super) const KEEPER_MARKER: &str = "WORKSHOP_LAUNCHER_KEEPER";

/// One process for all time: its number may be another process's later, or after the machine was started anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProcessId {
    #[serde(flatten)]
    pub(super) number: Numbered,
    /// Which start of the machine it belongs to.
    boot: String,
}

/// One process since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Numbered {
    pid: i32,
    /// When it started, in clock ticks since the machine was started.
    started: u64,
}

/// A process that runs, with its parent and its process group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) process: Numbered,
    pub(super) parent: i32,
    pub(super) group: i32,
}

/// The marker of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) marker: String,
    /// True for the Workshop's keeper, false for its app and what that started.
    pub(super) is_keeper: bool,
}

/// What `/proc/{pid}/stat` says.
struct Stat {
    state: char,
    parent: i32,
    group: i32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the program's name in parentheses and may hold anything: count from behind it.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self { state, parent, group, started })
    }

    /// Whether it still runs: an ended process whose parent has not asked for its status runs no more.
    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

impl ProcessId {
    /// The process that has this number now.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let started = Stat::read(pid)?.started;
        Some(Self { number: Numbered { pid, started }, boot: boot()? })
    }

    /// The same without the start of the machine; `None` when that was another one.
    pub(super) fn of_this_boot(&self) -> Option<Numbered> {
        (boot().as_ref() == Some(&self.boot)).then_some(self.number)
    }

    /// Whether this very process still runs.
    pub(super) fn is_alive(&self) -> bool {
        self.of_this_boot().is_some_and(Numbered::is_alive)
    }
}

impl Numbered {
    pub(super) fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    pub(super) fn is_older_than(self, other: Self) -> bool {
        self.started < other.started
    }

    pub(super) fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.started == self.started && stat.is_alive())
    }

    /// The marker in its environment; `None` also when it may not be seen, as another user's.
    pub(super) fn mark(self) -> Option<Mark> {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).ok()?;
        let value = |name: &str| {
            let mut lines = environment.split(|byte| *byte == 0);
            let held = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            String::from_utf8(held.to_vec()).ok()
        };
        let of_keeper = || value(KEEPER_MARKER).map(|marker| Mark { marker, is_keeper: true });
        value(MARKER).map(|marker| Mark { marker, is_keeper: false }).or_else(of_keeper)
    }

    /// The sockets (by inode) that it holds; none when it has ended or may not be seen.
    pub(super) fn sockets(self) -> Vec<u64> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.pid)).into_iter().flatten().flatten();
        let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
        let sockets = links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
        let sockets = sockets.collect();
        // Its number may have become another process's meanwhile.
        if self.is_alive() { sockets } else { Vec::new() }
    }

    /// Sends a signal to this very process; one that has ended is passed over.
    pub(super) fn signal(self, signal: Signal) {
        let Some(pid) = self.pid() else { return };
        // The descriptor names one process for good, so that what is checked is what is signalled.
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if self.is_alive()
            && let Err(error) = pidfd_send_signal(&descriptor, signal)
        {
            tracing::debug!(pid = self.pid, %error, "a signal was not delivered");
        }
    }
}

/// The processes that run now; not this program itself.
pub(super) fn all() -> impl Iterator<Item = Running> {
    let own = getpid().as_raw_nonzero().get();
    numbers().filter(move |pid| *pid != own).filter_map(|pid| {
        let stat = Stat::read(pid).filter(Stat::is_alive)?;
        let process = Numbered { pid, started: stat.started };
        Some(Running { process, parent: stat.parent, group: stat.group })
    })
}

fn numbers() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}
