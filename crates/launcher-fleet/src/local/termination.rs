//! Terminates all processes of a Workshop: SIGTERM first, then SIGKILL.
//!
//! A Workshop's processes are those of its process group, those with its marker in their environment, and the
//! descendants of its keeper (see [`keeper`](super::keeper)). The keeper covers processes that left the group and
//! cleared their environment. If the keeper was killed, or an earlier version started the app without one, only group
//! and marker find the processes.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::time::Instant;

use super::process::{PersistentProcessId, ProcessId};
use super::process_snapshot::ProcessScanner;

/// Maximum wait for the kernel to end killed processes, before this is logged.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Terminates every process with this marker, and the group of this leader: SIGTERM, and SIGKILL after `grace`. Returns
/// when none is left, nor a keeper; processes that survive SIGKILL are logged. Concurrent calls share the snapshots of
/// `scanner`, which also sets their interval.
pub(super) async fn terminate(
    scanner: &ProcessScanner,
    marker: &str,
    leader: Option<&PersistentProcessId>,
    grace: Duration,
) {
    let leader = leader.and_then(PersistentProcessId::of_this_boot);
    let mut termination = Termination {
        scanner,
        marker,
        leader,
        is_leader_alive: false,
        running: BTreeSet::new(),
        keepers: BTreeSet::new(),
        signalled: BTreeSet::new(),
    };
    termination.refresh().await;
    if termination.is_complete() {
        return;
    }
    termination.signal_group();
    termination.signal_orphans();
    let deadline = Instant::now() + grace;
    while !termination.is_complete() && Instant::now() < deadline {
        termination.refresh().await;
        termination.signal_orphans();
    }
    let deadline = Instant::now() + KILL_TIMEOUT;
    while !termination.is_complete() && Instant::now() < deadline {
        termination.running.iter().for_each(|process| process.signal(Signal::KILL));
        termination.refresh().await;
    }
    if !termination.running.is_empty() {
        tracing::error!(marker, processes = ?termination.running, "processes survived SIGKILL");
    }
    // A keeper ends with the last of its processes, unless it is stopped.
    termination.keepers.iter().for_each(|keeper| keeper.signal(Signal::KILL));
}

struct Termination<'a> {
    scanner: &'a ProcessScanner,
    marker: &'a str,
    /// The leader of the group, which may be gone.
    leader: Option<ProcessId>,
    /// True while the leader is alive: only then does the group's number certainly belong to it.
    is_leader_alive: bool,
    /// All processes seen so far that still run, including those that have left the group meanwhile.
    running: BTreeSet<ProcessId>,
    /// Keepers that still run. They get no SIGTERM: without them, their processes could not be found.
    keepers: BTreeSet<ProcessId>,
    /// Processes that got a SIGTERM individually: a second one makes many programs drop unsaved data.
    signalled: BTreeSet<ProcessId>,
}

impl Termination<'_> {
    /// Updates the running processes from a snapshot.
    async fn refresh(&mut self) {
        let Some(snapshot) = self.scanner.fresh_snapshot().await else { return };
        self.is_leader_alive = self.leader.is_some_and(|leader| snapshot.contains(leader));
        self.running.retain(|process| snapshot.contains(*process));
        self.running.extend(snapshot.members(self.marker, self.leader));
        self.keepers = snapshot.keepers(self.marker).collect();
    }

    /// True if nothing runs. A snapshot may miss a process that is started meanwhile, but then its keeper still runs.
    fn is_complete(&self) -> bool {
        self.running.is_empty() && self.keepers.is_empty()
    }

    /// Sends SIGTERM to the group; a leader stops its children in its own way.
    fn signal_group(&self) {
        if let Some(group) = self.leader.filter(|_| self.is_leader_alive).and_then(ProcessId::pid)
            && let Err(error) = kill_process_group(group, Signal::TERM)
        {
            tracing::debug!(%error, "signalling process group failed");
        }
    }

    /// Sends SIGTERM to each process once if the leader is gone, because no other process stops them.
    fn signal_orphans(&mut self) {
        if !self.is_leader_alive {
            let left = self.running.iter().filter(|process| self.signalled.insert(**process));
            left.for_each(|process| process.signal(Signal::TERM));
        }
    }
}
