//! The service at a glance: what is there now, and how the last day went.

mod spread;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::access::{Action, Verdict, decide};
use launcher_domain::{Caller, InstanceState};
use launcher_store::{EndedCount, LaunchCount, LiveCount};
use uuid::Uuid;

use crate::{Launcher, ServiceError};
use spread::Spread;

/// The hours of a day.
const HOURS: usize = 24;

/// The service at a glance. A day is the last 24 hours, to the minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// The time of which it tells.
    pub at: Timestamp,
    /// How many instances are in each state now; without those that have ended.
    pub states: Vec<(InstanceState, u64)>,
    /// The last day, hour by hour, the oldest first.
    pub hours: Vec<Hour>,
    /// The last day.
    pub day: Figures,
    /// The last day, template by template: those that were launched or are running, the most launched first.
    pub templates: Vec<(Uuid, Figures)>,
}

/// What became of launches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Launches.
    pub launches: u64,
    /// Those of them that failed, dismissed or not.
    pub failures: u64,
    /// Running now, whenever they were launched.
    pub running: u64,
    /// How long the launches took to be ready; `None` when none of them was.
    pub ready: Option<ReadyTimes>,
}

/// From the launch to ready, with the time in the queue; to a tenth of a second, from ten seconds on to a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyTimes {
    /// Half of them were ready within this time.
    pub p50: SignedDuration,
    /// 95 of 100 were.
    pub p95: SignedDuration,
}

/// One hour of the last day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hour {
    /// When it began.
    pub begins: Timestamp,
    /// What was launched in it, and what became of that since.
    pub launched: Figures,
    /// How many ran when it was over, with those that were ending. What has failed since is not among them.
    pub up: u64,
}

impl Launcher {
    /// The service at a glance, for admins.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn overview(&self, caller: &Caller) -> Result<Overview, ServiceError> {
        if decide(caller, Action::ListAllInstances) != Verdict::Granted {
            return Err(ServiceError::Forbidden);
        }
        let at = self.0.clock.now();
        let since = at.checked_sub(SignedDuration::from_hours(HOURS as i64)).unwrap_or(Timestamp::UNIX_EPOCH);
        let launches = self.0.store.count_launches(caller, since).await?;
        let live = self.0.store.count_live(caller, since).await?;
        let ended = self.0.store.count_ended(caller, since).await?;
        Ok(Overview {
            at,
            states: states(&live),
            hours: hours(since, &launches, &live, &ended),
            day: figures(launches.iter(), running(live.iter())),
            templates: templates(&launches, &live),
        })
    }
}

/// In the order of a life.
fn states(live: &[LiveCount]) -> Vec<(InstanceState, u64)> {
    let count = |state| live.iter().filter(|count| count.state == state).map(|count| count.instances).sum();
    let shown = InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Terminated);
    shown.map(|state| (state, count(state))).collect()
}

fn running<'c>(live: impl Iterator<Item = &'c LiveCount>) -> u64 {
    live.filter(|count| count.state == InstanceState::Running).map(|count| count.instances).sum()
}

fn figures<'c>(launches: impl Iterator<Item = &'c LaunchCount>, running: u64) -> Figures {
    let mut figures = Figures { running, ..Figures::default() };
    let mut ready = Spread::default();
    for count in launches {
        figures.launches += count.launches;
        figures.failures += count.failures;
        if let Some(millis) = count.ready_millis {
            // A fleet's clock may be behind.
            ready.add(millis.max(0), count.launches);
        }
    }
    let within = |percent| ready.percentile(percent).map(SignedDuration::from_millis);
    figures.ready = within(50).zip(within(95)).map(|(p50, p95)| ReadyTimes { p50, p95 });
    figures
}

fn templates(launches: &[LaunchCount], live: &[LiveCount]) -> Vec<(Uuid, Figures)> {
    let mut by_template: BTreeMap<Uuid, (Vec<&LaunchCount>, Vec<&LiveCount>)> = BTreeMap::new();
    for count in launches {
        by_template.entry(count.template_id).or_default().0.push(count);
    }
    for count in live {
        by_template.entry(count.template_id).or_default().1.push(count);
    }
    let mut templates: Vec<_> = by_template
        .into_iter()
        .map(|(id, (launches, live))| (id, figures(launches.into_iter(), running(live.into_iter()))))
        .filter(|(_, figures)| figures.launches + figures.running > 0)
        .collect();
    templates.sort_by_key(|(_, figures)| std::cmp::Reverse((figures.launches, figures.running)));
    templates
}

fn hours(since: Timestamp, launches: &[LaunchCount], live: &[LiveCount], ended: &[EndedCount]) -> Vec<Hour> {
    // A clock that is ahead launches in the hours to come.
    let hour_of = |count: &LaunchCount| count.hour.clamp(0, HOURS as i64 - 1);
    (0..HOURS as i64)
        .map(|hour| Hour {
            begins: since.checked_add(SignedDuration::from_hours(hour)).unwrap_or(since),
            launched: figures(launches.iter().filter(|count| hour_of(count) == hour), 0),
            up: up_after(hour, live, ended),
        })
        .collect()
}

/// How many ran when this hour was over.
fn up_after(hour: i64, live: &[LiveCount], ended: &[EndedCount]) -> u64 {
    let is_up = |count: &&LiveCount| {
        matches!(count.state, InstanceState::Running | InstanceState::Terminating)
            && count.ready_hour.is_some_and(|ready| ready <= hour)
    };
    let was_up = |count: &&EndedCount| count.ready_hour <= hour && hour < count.ended_hour;
    let still: u64 = live.iter().filter(is_up).map(|count| count.instances).sum();
    let no_more: u64 = ended.iter().filter(was_up).map(|count| count.instances).sum();
    still + no_more
}
