//! This machine's clock beside those of others: the end of a workshop is a time, and so is that of a Lease.

use jiff::{SignedDuration, Timestamp};
use launcher_domain::Clock;
use launcher_domain::clock::SystemClock;

use super::report::Finding;

/// More than this is too much.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(5);

/// What another clock said, and this one at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    whose: &'static str,
    theirs: Timestamp,
    ours: Timestamp,
}

impl Reading {
    /// `asked` is when the other clock was asked for; it has answered just now.
    pub(super) fn of(whose: &'static str, theirs: Timestamp, asked: Timestamp) -> Self {
        let way = now().duration_since(asked) / 2;
        Self { whose, theirs, ours: asked.checked_add(way).unwrap_or(asked) }
    }
}

pub(super) fn now() -> Timestamp {
    SystemClock.now()
}

pub(super) fn compare(readings: &[Option<Reading>]) -> Vec<Finding> {
    readings.iter().flatten().map(judge).collect()
}

fn judge(reading: &Reading) -> Finding {
    const CHECK: &str = "clock";
    let Reading { whose, theirs, ours } = reading;
    let ahead = ours.duration_since(*theirs);
    if ahead.abs() <= TOLERANCE {
        return Finding::ok(CHECK, format!("this machine's and {whose} agree"));
    }
    let side = if ahead.is_positive() { "ahead of" } else { "behind" };
    let seconds = ahead.abs().as_secs();
    Finding::warn(
        CHECK,
        format!("this machine's is {seconds} seconds {side} {whose}: workshops end at wrong times. Set both by NTP"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(ahead: i64) -> String {
        let theirs = Timestamp::from_second(1_790_000_000).unwrap();
        let ours = theirs + SignedDuration::from_secs(ahead);
        judge(&Reading { whose: "the database server's", theirs, ours }).to_string()
    }

    #[test]
    fn a_clock_that_goes_wrong_is_told_from_one_that_is_read_late() {
        assert!(said(4).starts_with("ok") && said(-4).starts_with("ok"));
        assert!(
            said(90).starts_with("warn  clock            this machine's is 90 seconds ahead of the database server's")
        );
        assert!(said(-90).contains("90 seconds behind"));
    }
}
