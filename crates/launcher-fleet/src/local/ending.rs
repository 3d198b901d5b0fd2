//! Ending all processes of a Workshop: asked first, then forced.
//!
//! A Workshop's processes are those of its process group, those with its marker in their environment, and those that
//! descend from its keeper (see [`keeper`](super::keeper)), which holds also what left the group and cleared its
//! environment. Group and marker alone find the rest when the keeper was killed, and for an app that an earlier version
//! started without one.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::{Signal, kill_process_group};
use tokio::time::Instant;

use super::census::CensusTaker;
use super::process::{Numbered, ProcessId};

/// How long to wait for the kernel to end what was killed, before saying that it does not.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Ends every process with this marker, and the group of this leader: SIGTERM, and SIGKILL for what is left after
/// `grace`. Returns when none runs any more, nor a keeper; what even SIGKILL does not end is logged. How often is looked,
/// `census` decides: all that are ending at the same time share its looks.
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
        tracing::error!(marker, processes = ?hunt.known, "processes of a Workshop do not end, not even by SIGKILL");
    }
    // A keeper ends with the last process that it keeps, unless it is stopped.
    hunt.keepers.iter().for_each(|keeper| keeper.signal(Signal::KILL));
}

struct Hunt<'a> {
    census: &'a CensusTaker,
    marker: &'a str,
    /// The leader of the group, which may be gone.
    leader: Option<Numbered>,
    /// Whether it lives: only then is the group's number certainly its own.
    leads: bool,
    /// All that were ever seen and still run: what leaves the group meanwhile is to end all the same.
    known: BTreeSet<Numbered>,
    /// The keepers that still run. They are not asked to end: without them, what they keep could not be found.
    keepers: BTreeSet<Numbered>,
    /// Those that were asked one by one: a second SIGTERM makes many programs drop what they are saving.
    asked: BTreeSet<Numbered>,
}

impl Hunt<'_> {
    /// Notes what still runs.
    async fn look(&mut self) {
        let Some(census) = self.census.fresh().await else { return };
        self.leads = self.leader.is_some_and(|leader| census.has(leader));
        self.known.retain(|process| census.has(*process));
        self.known.extend(census.members(self.marker, self.leader));
        self.keepers = census.keepers(self.marker).collect();
    }

    /// Nothing runs any more. A census may miss a process that is born meanwhile; its keeper still runs then.
    fn is_over(&self) -> bool {
        self.known.is_empty() && self.keepers.is_empty()
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
    fn ask_orphans(&mut self) {
        if !self.leads {
            let left = self.known.iter().filter(|process| self.asked.insert(**process));
            left.for_each(|process| process.signal(Signal::TERM));
        }
    }
}
