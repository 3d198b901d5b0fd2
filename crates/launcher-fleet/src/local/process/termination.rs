//! Terminates all processes of a Workshop: SIGTERM first, then SIGKILL.
//!
//! The launcher finds a Workshop's processes in three ways: by their process group, by the marker in their environment,
//! and as descendants of the keeper (see [`keeper`](super::keeper)). Only the keeper finds processes that left the
//! group and cleared their environment. The app has no keeper if the keeper was killed, or if an earlier launcher
//! version started the app.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::time::Instant;

use super::process_id::ProcessId;
use super::snapshot::{AppProcesses, ProcessScanner};

/// Maximum wait after SIGKILL for the processes to exit. The launcher then logs an error and gives up.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Terminates every process of this app: sends SIGTERM, and SIGKILL after `grace`. Returns when all processes and
/// keepers are gone, or logs the processes that survive SIGKILL. Concurrent calls share the snapshots of `scanner`.
pub(crate) async fn terminate(scanner: &ProcessScanner, app: &AppProcesses, grace: Duration) {
    let mut termination = Termination {
        scanner,
        app,
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
        tracing::error!(
            marker = app.marker,
            processes = ?termination.running,
            "app processes survived SIGKILL, giving up"
        );
    }
    // The remaining keepers cannot exit, for example because they are stopped (SIGSTOP): kill them.
    termination.keepers.iter().for_each(|keeper| keeper.signal(Signal::KILL));
}

struct Termination<'a> {
    scanner: &'a ProcessScanner,
    app: &'a AppProcesses,
    /// True while the leader is alive. Only then does the process group certainly belong to this app: later the kernel
    /// may reuse the group's number.
    is_leader_alive: bool,
    /// All processes seen so far that still run, including processes that have left the group since.
    running: BTreeSet<ProcessId>,
    /// Keepers that still run. They get no SIGTERM: without a keeper, the launcher could not find all processes of the
    /// app.
    keepers: BTreeSet<ProcessId>,
    /// Processes that got a SIGTERM individually. They get no second one, because many programs drop unsaved data then.
    signalled: BTreeSet<ProcessId>,
}

impl Termination<'_> {
    async fn refresh(&mut self) {
        let Some(snapshot) = self.scanner.fresh_snapshot().await else { return };
        self.is_leader_alive = self.app.leader.is_some_and(|leader| snapshot.contains(leader));
        self.running.retain(|process| snapshot.contains(*process));
        self.running.extend(snapshot.members(self.app));
        self.keepers = snapshot.keepers(&self.app.marker).collect();
    }

    /// True if no process and no keeper runs. The keepers count, because a snapshot may miss a process that starts
    /// during the snapshot. The keeper of such a process still runs.
    fn is_complete(&self) -> bool {
        self.running.is_empty() && self.keepers.is_empty()
    }

    /// Sends SIGTERM to the process group. The leader can then stop its children in the right order.
    fn signal_group(&self) {
        if let Some(group) = self.app.leader.filter(|_| self.is_leader_alive).and_then(ProcessId::pid)
            && let Err(error) = kill_process_group(group, Signal::TERM)
        {
            tracing::debug!(%error, "sending SIGTERM to a process group failed");
        }
    }

    /// After the leader is gone, sends SIGTERM once to each remaining process, because no leader stops them.
    fn signal_orphans(&mut self) {
        if !self.is_leader_alive {
            let left = self.running.iter().filter(|process| self.signalled.insert(**process));
            left.for_each(|process| process.signal(Signal::TERM));
        }
    }
}
