//! Overview of the service: current states, and statistics of the last day.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::access::Action;
use launcher_domain::{Caller, InstanceState, StartStep};
use launcher_store::{EndedCount, LaunchCount, ListedInstance, LiveCount};
use uuid::Uuid;

use crate::error::{ServiceError, require};
use crate::launcher::Launcher;

const HOURS: usize = 24;
/// Newest launches of a template from which its usual start time is computed. More than a class, so that a class that
/// is starting does not hide the earlier launches.
const USUAL_LAUNCHES: u32 = 200;

/// Overview of the service. "Day" means the last 24 hours, rounded to the minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    pub at: Timestamp,
    /// Current number of instances by state, without terminated instances.
    pub states: Vec<(InstanceState, u64)>,
    /// Statistics of the last day by hour, oldest first.
    pub hours: Vec<Hour>,
    /// Statistics of the last day.
    pub day: LaunchStats,
    /// Statistics of the last day by template, most launched first. Contains the templates that were launched on that
    /// day or have running instances.
    pub templates: Vec<(Uuid, LaunchStats)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchStats {
    pub launches: u64,
    /// Launches that failed, dismissed or not.
    pub failures: u64,
    /// Instances running now, regardless of their launch time.
    pub running: u64,
    /// Time to ready of the launches; `None` when none of them became ready.
    pub ready: Option<ReadyTimes>,
}

/// Time from launch to ready, including the queue. Resolution: 0.1 s below ten seconds, 1 s from ten seconds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyTimes {
    pub p50: SignedDuration,
    pub p95: SignedDuration,
}

/// One hour of the last day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hour {
    pub begins: Timestamp,
    /// Launches in this hour, and their results until now.
    pub launched: LaunchStats,
    /// Instances running or terminating at the end of the hour, without those that failed later.
    pub up: u64,
}

impl Launcher {
    /// Returns the overview, for admins.
    ///
    /// # Errors
    /// Forbidden, Unavailable.
    pub async fn overview(&self, caller: &Caller) -> Result<Overview, ServiceError> {
        require(caller, Action::ListAllInstances)?;
        let at = self.0.clock.now();
        let since = at.checked_sub(SignedDuration::from_hours(HOURS as i64)).unwrap_or(Timestamp::UNIX_EPOCH);
        let launches = self.0.store.count_launches(caller, since).await?;
        let live = self.0.store.count_live(caller, since).await?;
        let ended = self.0.store.count_ended(caller, since).await?;
        Ok(Overview {
            at,
            states: states(&live),
            hours: hours(since, &launches, &live, &ended),
            day: stats(launches.iter(), running(live.iter())),
            templates: templates(&launches, &live),
        })
    }

    /// Returns the expected time until a waiting instance is ready; zero if its start already takes longer than usual.
    /// `None` if it is unknown: no workshop of the template was ready yet, or the fleet has no room, and it is unknown when
    /// another workshop ends. Everybody may read it, because it does not tell whose launches these are.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn ready_in(&self, listed: &ListedInstance) -> Result<Option<SignedDuration>, ServiceError> {
        let ListedInstance { instance, queue_position, .. } = listed;
        if matches!(instance.report.start_step, Some(StartStep::WaitingForQuota | StartStep::WaitingForRoom)) {
            return Ok(None);
        }
        let Some(usual) = self.usual_start(instance.template_id).await? else { return Ok(None) };
        if let Some(position) = queue_position {
            return Ok(Some(expected_in_queue(usual, *position, self.0.limits.max_concurrent_starts)));
        }
        let since = instance.dispatched_at.unwrap_or_else(|| instance.queued_at());
        let waited = self.0.clock.now().duration_since(since);
        Ok(Some((usual - waited).max(SignedDuration::ZERO)))
    }

    /// Returns the usual time from the end of the wait in the queue to ready: the median of the template's newest launches.
    /// `None` if none of them was ready.
    ///
    /// # Errors
    /// Unavailable.
    pub async fn usual_start(&self, template_id: Uuid) -> Result<Option<SignedDuration>, ServiceError> {
        let mut times = Distribution::default();
        for millis in self.0.store.newest_start_times(template_id, USUAL_LAUNCHES).await? {
            times.add(millis.max(0), 1);
        }
        Ok(times.percentile(50).map(SignedDuration::from_millis))
    }
}

/// Returns the expected time until the workshop at this position of the queue is ready. `most` workshops start at the same
/// time, and the time of the others is assumed to be usual for this one, too: most queues are one class.
fn expected_in_queue(usual: SignedDuration, position: u32, most: u32) -> SignedDuration {
    let before = usual.as_millis() * i128::from(position) / i128::from(most.max(1));
    usual.saturating_add(SignedDuration::from_millis(i64::try_from(before).unwrap_or(i64::MAX)))
}

/// Returns the number of instances by state, in lifecycle order.
fn states(live: &[LiveCount]) -> Vec<(InstanceState, u64)> {
    let count = |state| live.iter().filter(|count| count.state == state).map(|count| count.instances).sum();
    let shown = InstanceState::ALL.into_iter().filter(|state| *state != InstanceState::Terminated);
    shown.map(|state| (state, count(state))).collect()
}

fn running<'c>(live: impl Iterator<Item = &'c LiveCount>) -> u64 {
    live.filter(|count| count.state == InstanceState::Running).map(|count| count.instances).sum()
}

fn stats<'c>(launches: impl Iterator<Item = &'c LaunchCount>, running: u64) -> LaunchStats {
    let mut stats = LaunchStats { running, ..LaunchStats::default() };
    let mut ready = Distribution::default();
    for count in launches {
        stats.launches += count.launches;
        stats.failures += count.failures;
        if let Some(millis) = count.ready_millis {
            // The time is negative if the fleet's clock is behind the launcher's.
            ready.add(millis.max(0), count.launches);
        }
    }
    let within = |percent| ready.percentile(percent).map(SignedDuration::from_millis);
    stats.ready = within(50).zip(within(95)).map(|(p50, p95)| ReadyTimes { p50, p95 });
    stats
}

fn templates(launches: &[LaunchCount], live: &[LiveCount]) -> Vec<(Uuid, LaunchStats)> {
    let mut by_template: BTreeMap<Uuid, (Vec<&LaunchCount>, Vec<&LiveCount>)> = BTreeMap::new();
    for count in launches {
        by_template.entry(count.template_id).or_default().0.push(count);
    }
    for count in live {
        by_template.entry(count.template_id).or_default().1.push(count);
    }
    let mut templates: Vec<_> = by_template
        .into_iter()
        .map(|(id, (launches, live))| (id, stats(launches.into_iter(), running(live.into_iter()))))
        .filter(|(_, stats)| stats.launches + stats.running > 0)
        .collect();
    templates.sort_by_key(|(_, stats)| std::cmp::Reverse((stats.launches, stats.running)));
    templates
}

fn hours(since: Timestamp, launches: &[LaunchCount], live: &[LiveCount], ended: &[EndedCount]) -> Vec<Hour> {
    // A replica's clock may be ahead, so the launch may appear to be in a future hour: count it in the last hour.
    let hour_of = |count: &LaunchCount| count.hour.clamp(0, HOURS as i64 - 1);
    (0..HOURS as i64)
        .map(|hour| Hour {
            begins: since.checked_add(SignedDuration::from_hours(hour)).unwrap_or(since),
            launched: stats(launches.iter().filter(|count| hour_of(count) == hour), 0),
            up: up_after(hour, live, ended),
        })
        .collect()
}

/// Returns the number of instances that were running, suspending or terminating at the end of this hour.
fn up_after(hour: i64, live: &[LiveCount], ended: &[EndedCount]) -> u64 {
    let is_up = |count: &&LiveCount| {
        matches!(count.state, InstanceState::Running | InstanceState::Suspending | InstanceState::Terminating)
            && count.ready_hour.is_some_and(|ready| ready <= hour)
    };
    let was_up = |count: &&EndedCount| count.ready_hour <= hour && hour < count.ended_hour;
    let still: u64 = live.iter().filter(is_up).map(|count| count.instances).sum();
    let no_more: u64 = ended.iter().filter(was_up).map(|count| count.instances).sum();
    still + no_more
}

/// Values with their number of occurrences.
#[derive(Debug, Default)]
struct Distribution(BTreeMap<i64, u64>);

impl Distribution {
    /// Adds a value `times` times.
    fn add(&mut self, value: i64, times: u64) {
        *self.0.entry(value).or_default() += times;
    }

    /// Returns the smallest value that at least `percent` percent of all values do not exceed (nearest rank); `None`
    /// without values.
    fn percentile(&self, percent: u64) -> Option<i64> {
        let rank = (self.0.values().sum::<u64>() * percent).div_ceil(100);
        let mut passed = 0;
        self.0.iter().find_map(|(value, times)| {
            passed += times;
            (*times > 0 && passed >= rank).then_some(*value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: &[i64]) -> Distribution {
        let mut distribution = Distribution::default();
        values.iter().for_each(|value| distribution.add(*value, 1));
        distribution
    }

    #[test]
    fn percentile_uses_the_nearest_rank() {
        // Textbook example of the nearest-rank method. The ranks among five values are 1, 2, 2, 3 and 5.
        let five = distribution(&[50, 15, 40, 20, 35]);
        let found = [5, 30, 40, 50, 95].map(|percent| five.percentile(percent));
        assert_eq!(found, [15, 20, 20, 35, 50].map(Some));
        assert_eq!(distribution(&[1, 2, 3, 4]).percentile(50), Some(2), "half of four is two");
    }

    #[test]
    fn percentile_of_one_value_is_that_value_and_of_no_values_is_none() {
        assert_eq!([1, 50, 95, 100].map(|percent| distribution(&[7]).percentile(percent)), [Some(7); 4]);
        assert_eq!(distribution(&[]).percentile(50), None);
    }

    #[test]
    fn expected_time_in_the_queue_grows_with_the_position_and_shrinks_with_the_limit() {
        let expected = |position, most| expected_in_queue(SignedDuration::from_secs(40), position, most).as_secs();
        assert_eq!(
            [(1, 1), (6, 1), (1, 64), (64, 64), (640, 64)].map(|(at, most)| expected(at, most)),
            [80, 280, 40, 80, 440]
        );
        assert_eq!(expected_in_queue(SignedDuration::MAX, u32::MAX, 0), SignedDuration::MAX, "no overflow");
    }

    #[test]
    fn percentile_counts_repeated_values() {
        let mut distribution = Distribution::default();
        distribution.add(10, 94);
        distribution.add(90, 4);
        distribution.add(90, 2);
        assert_eq!((distribution.percentile(94), distribution.percentile(95)), (Some(10), Some(90)));
    }
}
