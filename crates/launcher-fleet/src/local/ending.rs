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

use super::census::CensusTaker;
use super::process::{Numbered, ProcessId};

/// Maximum wait for the kernel to end killed processes, before this is logged.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Terminates every process with this marker, and the group of this leader: SIGTERM, and SIGKILL after `grace`. Returns
/// when none is left, nor a keeper; processes that survive SIGKILL are logged. Concurrent calls share the snapshots of
/// `census`, which also sets their interval.
pub(super) async fn end(census: &CensusTaker, marker: &str, leader: Option<&ProcessId>, grace: Duration) {
    let leader = leader.and_then(ProcessId::of_this_boot);
    let mut hunt = Hunt {
        census,
        marker,
        leader,
        leads: false,
        known: BTreeSet::new(),
        keepers: BTreeSet::new(),
        asked: BTreeSet::new(),
    };
    hunt.look().await;
    if hunt.is_over() {
        return;
    }
    hunt.ask_group();
    hunt.ask_orphans();
    let deadline = Instant::now() + grace;
    while !hunt.is_over() && Instant::now() < deadline {
        hunt.look().await;
        hunt.ask_orphans();
    }
    let deadline = Instant::now() + KILL_TIMEOUT;
    while !hunt.is_over() && Instant::now() < deadline {
        hunt.known.iter().for_each(|process| process.signal(Signal::KILL));
        hunt.look().await;
    }
    if !hunt.known.is_empty() {
        tracing::error!(marker, processes = ?hunt.known, "processes survived SIGKILL");
    }
    // A keeper ends with the last of its processes, unless it is stopped.
    hunt.keepers.iter().for_each(|keeper| keeper.signal(Signal::KILL));
}

struct Hunt<'a> {
    census: &'a CensusTaker,
    marker: &'a str,
    /// The leader of the group, which may be gone.
    leader: Option<Numbered>,
    /// True while the leader is alive: only then does the group's number certainly belong to it.
    leads: bool,
    /// All processes seen so far that still run, including those that have left the group meanwhile.
    known: BTreeSet<Numbered>,
    /// Keepers that still run. They get no SIGTERM: without them, their processes could not be found.
    keepers: BTreeSet<Numbered>,
    /// Processes that got a SIGTERM individually: a second one makes many programs drop unsaved data.
    asked: BTreeSet<Numbered>,
}

impl Hunt<'_> {
    /// Updates the running processes from a snapshot.
    async fn look(&mut self) {
        let Some(census) = self.census.fresh().await else { return };
        self.leads = self.leader.is_some_and(|leader| census.has(leader));
        self.known.retain(|process| census.has(*process));
        self.known.extend(census.members(self.marker, self.leader));
        self.keepers = census.keepers(self.marker).collect();
    }

    /// True if nothing runs. A snapshot may miss a process that is started meanwhile, but then its keeper still runs.
    fn is_over(&self) -> bool {
        self.known.is_empty() && self.keepers.is_empty()
    }

    /// Sends SIGTERM to the group; a leader stops its children in its own way.
    fn ask_group(&self) {
        if let Some(group) = self.leader.filter(|_| self.leads).and_then(Numbered::pid)
            && let Err(error) = kill_process_group(group, Signal::TERM)
        {
            tracing::debug!(%error, "signalling process group failed");
        }
    }

    /// Sends SIGTERM to each process once if the leader is gone, because no other process stops them.
    fn ask_orphans(&mut self) {
        if !self.leads {
            let left = self.known.iter().filter(|process| self.asked.insert(**process));
            left.for_each(|process| process.signal(Signal::TERM));
        }
    }
}
