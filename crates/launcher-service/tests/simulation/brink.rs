//! The end is near: somebody extends at the last moment, and for a while the watches do not tell.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::InstanceState;

use crate::chance::Chance;
use crate::people::PEOPLE;
use crate::world::{LAUNCHERS, World};

/// How long before an end the last moment is: there is time to write the extension down, and none to hear of it.
const LAST: SignedDuration = SignedDuration::from_secs(3);

/// Who waits for the last moment.
#[derive(Debug)]
pub(crate) struct Brink {
    chance: Chance,
    /// The ends that were near once: each is thought about once.
    passed: BTreeSet<(String, Timestamp)>,
}

impl Brink {
    pub(crate) fn new(seed: u64) -> Self {
        Self { chance: Chance::about(seed, "brink"), passed: BTreeSet::new() }
    }
}

impl World {
    /// Somebody may extend what is about to end, while each watch of Workshops falls behind.
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
