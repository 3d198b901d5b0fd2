//! Compares this machine's clock with other clocks. Each machine compares the expiry of workshops and Leases with its
//! own clock, so a wrong clock ends them too early or too late.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::Clock;
use launcher_domain::clock::SystemClock;

use super::report::{Finding, ok, warning};

/// Maximum difference between two clocks without a warning.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// The time of another clock, and this machine's time at the same moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    whose: &'static str,
    theirs: Timestamp,
    ours: Timestamp,
}

impl Reading {
    /// Creates a reading from an answer that has just arrived. `asked` is the time when the query was sent. The
    /// midpoint between `asked` and now counts as this machine's time.
    pub(super) fn of(whose: &'static str, theirs: Timestamp, asked: Timestamp) -> Self {
        let way = now().duration_since(asked) / 2;
        Self { whose, theirs, ours: asked.checked_add(way).unwrap_or(asked) }
    }
}

pub(super) fn now() -> Timestamp {
    SystemClock.now()
}

pub(super) fn compare(readings: &[Option<Reading>]) -> Vec<Finding> {
    readings.iter().flatten().map(assess).collect()
}

fn assess(reading: &Reading) -> Finding {
    const CHECK: &str = "clock";
    let Reading { whose, theirs, ours } = reading;
    let ahead = ours.duration_since(*theirs);
    if ahead.abs() <= TOLERANCE {
        return ok!(CHECK, "this machine and {whose} agree");
    }
    let side = if ahead.is_positive() { "ahead of" } else { "behind" };
    let seconds = ahead.abs().as_secs();
    warning!(
        CHECK,
        "this machine is {seconds} seconds {side} {whose}: workshops expire at wrong times. Synchronise both with \
         NTP"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ahead: i64) -> String {
        let theirs = Timestamp::from_second(1_790_000_000).unwrap();
        let ours = theirs + SignedDuration::from_secs(ahead);
        assess(&Reading { whose: "the database server", theirs, ours }).to_string()
    }

    #[test]
    fn clock_difference_beyond_tolerance_gives_warning() {
        assert!(said(4).starts_with("ok") && said(-4).starts_with("ok"));
        assert!(said(90).starts_with("warn  clock            this machine is 90 seconds ahead of the database server"));
        assert!(said(-90).contains("90 seconds behind"));
    }
}
