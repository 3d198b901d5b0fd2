//! Processes as `/proc` tells them: which they are, whether they live, and which carry a marker.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// The environment variable that every process of a fleet carries.
pub(super) const MARKER: &str = "WORKSHOP_LAUNCHER_ID";

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

/// What `/proc/{pid}/stat` says.
struct Stat {
    state: char,
    group: i32,
    started: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the program's name in parentheses and may hold anything: count from behind it.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self { state, group, started })
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

    /// Whether this very process still runs.
    pub(super) fn is_alive(&self) -> bool {
        boot().as_ref() == Some(&self.boot) && self.number.is_alive()
    }
}

impl Numbered {
    pub(super) fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }

    pub(super) fn is_alive(self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.started == self.started && stat.is_alive())
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

/// The processes that run now and carry a marker, or are in the group of a leader. Only those of the same user can be
/// seen; this program itself is never among them.
pub(super) fn running(marker: &str, leader: Option<Numbered>) -> Vec<Numbered> {
    let line = format!("{MARKER}={marker}");
    let own = getpid().as_raw_nonzero().get();
    let belongs = |process: Numbered, group| {
        leader.is_some_and(|leader| leader.pid == group)
            || lines_of_environment(process.pid).iter().any(|held| *held == line.as_bytes())
    };
    numbers()
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            let stat = Stat::read(pid).filter(Stat::is_alive)?;
            let process = Numbered { pid, started: stat.started };
            belongs(process, stat.group).then_some(process)
        })
        .collect()
}

/// The markers of a fleet that processes carry now.
pub(super) fn markers(fleet_id: &str) -> Vec<String> {
    let start = format!("{MARKER}={fleet_id}/");
    let own = getpid().as_raw_nonzero().get();
    let mut markers: Vec<String> = numbers()
        .filter(|pid| *pid != own)
        .flat_map(lines_of_environment)
        .filter(|line| line.starts_with(start.as_bytes()))
        .filter_map(|line| String::from_utf8(line.get(MARKER.len() + 1..)?.to_vec()).ok())
        .collect();
    markers.sort();
    markers.dedup();
    markers
}

fn numbers() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn lines_of_environment(pid: i32) -> Vec<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|text| text.trim().to_owned())
}
