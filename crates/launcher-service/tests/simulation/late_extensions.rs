//! Extensions shortly before expiry, while the watches lag.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::InstanceState;

use crate::seeded::SeededRng;
use crate::users::USERS;
use crate::world::{LAUNCHERS, World};

/// Time before an expiry at which extensions are requested. It is long enough to store an extension, but too short for
/// the operator to receive it through a lagging watch.
const LAST: SignedDuration = SignedDuration::from_secs(3);

/// State of the extensions that are requested shortly before an expiry.
#[derive(Debug)]
pub(crate) struct LateExtensions {
    rng: SeededRng,
    /// Expiries for which an extension was already requested.
    passed: BTreeSet<(String, Timestamp)>,
}

impl LateExtensions {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: SeededRng::about(seed, "brink"), passed: BTreeSet::new() }
    }
}

impl World {
    /// Requests an extension of each instance that is about to expire, while all watches of Workshops lag.
    pub(crate) fn extend_before_expiry(&mut self) {
        let now = self.server.time.now();
        let running = self.rows.all.values().filter(|row| row.state == InstanceState::Running);
        let near = running.filter_map(|row| {
            let end = row.expires_at.filter(|end| (now..now + LAST).contains(end))?;
            let owner = USERS.into_iter().find(|person| row.owner_email.as_str().starts_with(person))?;
            Some((row.k8s_name.clone(), end, owner))
        });
        for (name, end, owner) in near.collect::<Vec<_>>() {
            if !self.late_extensions.passed.insert((name.clone(), end)) {
                continue;
            }
            let behind = self.late_extensions.rng.millis(2_000, 20_000);
            self.fall_behind(behind);
            let place = self.late_extensions.rng.below(LAUNCHERS);
            let users = self.users.clone();
            if let Some(replica) = &mut self.replicas[place] {
                users.extend(replica, owner, &name);
            }
        }
    }

    fn fall_behind(&self, time: Duration) {
        self.trace.say(&format!("the watches of Workshops tell nothing for {} ms", time.as_millis()));
        self.server.faults.fall_behind(time);
    }
}
