//! Ending all processes of a Workshop: asked first, then forced.
//!
//! The process group alone is not enough: Jupyter's kernels, and whatever a terminal starts, run in sessions of their
//! own. Those are known by the marker in their environment. The marker alone is not enough either: nginx, PostgreSQL and
//! redis write over theirs, and stay in the group when its leader has crashed. A program that leaves the group and drops
//! its environment as well escapes; nothing but a container would hold it.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::time::Instant;

use super::census::CensusTaker;
use super::process::{Numbered, ProcessId};

/// How long to wait for the kernel to end what was killed, before saying that it does not.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Ends every process with this marker, and the group of this leader: SIGTERM, and SIGKILL for what is left after
/// `grace`. Returns when none runs any more; what even SIGKILL does not end is logged. How often is looked, `census`
/// decides: all that are ending at the same time share its looks.
pub(super) async fn end(census: &CensusTaker, marker: &str, leader: Option<&ProcessId>, grace: Duration) {
    let leader = leader.and_then(ProcessId::of_this_boot);
    let mut hunt = Hunt { census, marker, leader, leads: false, known: BTreeSet::new(), asked: BTreeSet::new() };
    let mut left = hunt.look().await;
    if left.is_empty() {
        return;
    }
    hunt.ask_group();
    hunt.ask_orphans(&left);
    let deadline = Instant::now() + grace;
    while !left.is_empty() && Instant::now() < deadline {
        left = hunt.look().await;
        hunt.ask_orphans(&left);
    }
    let deadline = Instant::now() + KILL_TIMEOUT;
    while !left.is_empty() && Instant::now() < deadline {
        left.iter().for_each(|process| process.signal(Signal::KILL));
        left = hunt.look().await;
    }
    if !left.is_empty() {
        tracing::error!(marker, processes = ?left, "processes of a Workshop do not end, not even by SIGKILL");
    }
}

struct Hunt<'a> {
    census: &'a CensusTaker,
    marker: &'a str,
    /// The leader of the group, which may be gone.
    leader: Option<Numbered>,
    /// Whether it lives: only then is the group's number certainly its own.
    leads: bool,
    /// All that were ever seen: what leaves the group meanwhile is to end all the same.
    known: BTreeSet<Numbered>,
    /// Those that were asked one by one: a second SIGTERM makes many programs drop what they are saving.
    asked: BTreeSet<Numbered>,
}

impl Hunt<'_> {
    /// What still runs.
    async fn look(&mut self) -> Vec<Numbered> {
        if let Some(census) = self.census.fresh().await {
            self.leads = self.leader.is_some_and(|leader| census.has(leader));
            self.known.retain(|process| census.has(*process));
            self.known.extend(census.members(self.marker, self.leader));
        }
        self.known.iter().copied().collect()
    }

    /// Asks the group, whose leader tells those it started in its own way.
    fn ask_group(&self) {
        if let Some(group) = self.leader.filter(|_| self.leads).and_then(Numbered::pid)
            && let Err(error) = kill_process_group(group, Signal::TERM)
        {
            tracing::debug!(%error, "a process group could not be signalled");
        }
    }

    /// Asks each process once, when there is no leader any more: nobody else tells them.
    fn ask_orphans(&mut self, left: &[Numbered]) {
        if !self.leads {
            left.iter().filter(|process| self.asked.insert(**process)).for_each(|process| process.signal(Signal::TERM));
        }
    }
}
