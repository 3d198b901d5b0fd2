//! Extensions shortly before expiry, while the watches lag.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::InstanceState;

use crate::chance::Chance;
use crate::people::PEOPLE;
use crate::world::{LAUNCHERS, World};

/// Length of the last moment before an expiry: long enough to store an extension, too short to observe it.
const LAST: SignedDuration = SignedDuration::from_secs(3);

/// State of the extensions at the last moment.
#[derive(Debug)]
pub(crate) struct Brink {
    chance: Chance,
    /// Expiries already handled: each is handled once.
    passed: BTreeSet<(String, Timestamp)>,
}

impl Brink {
    pub(crate) fn new(seed: u64) -> Self {
        Self { chance: Chance::about(seed, "brink"), passed: BTreeSet::new() }
    }
}

impl World {
    /// Requests an extension of each instance about to expire, while all watches of Workshops lag.
    pub(crate) fn at_the_last_moment(&mut self) {
        let now = self.server.time.now();
        let running = self.rows.all.values().filter(|row| row.state == InstanceState::Running);
        let near = running.filter_map(|row| {
            let end = row.expires_at.filter(|end| (now..now + LAST).contains(end))?;
            let owner = PEOPLE.into_iter().find(|person| row.owner_email.as_str().starts_with(person))?;
            Some((row.k8s_name.clone(), end, owner))
        });
        for (name, end, owner) in near.collect::<Vec<_>>() {
            if !self.brink.passed.insert((name.clone(), end)) {
                continue;
            }
            let behind = self.brink.chance.millis(2_000, 20_000);
            self.fall_behind(behind);
            let place = self.brink.chance.below(LAUNCHERS);
            let people = self.people.clone();
            if let Some(replica) = &mut self.replicas[place] {
                people.extend(replica, owner, &name);
            }
        }
    }

    fn fall_behind(&self, time: Duration) {
        self.trace.say(&format!("the watches of Workshops tell nothing for {} ms", time.as_millis()));
        self.server.weather.fall_behind(time);
    }
}
