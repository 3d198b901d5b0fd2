//! Texts of the admins' overview.

use jiff::SignedDuration;
use launcher_service::{LaunchStats, ReadyTimes};

use crate::pages::texts::parts::Around;

/// Time at which the figures were read.
pub(crate) const AS_OF: Around = Around { before: "As of ", after: "" };
/// Name of the numbers of instances by state, for screen readers.
pub(crate) const INSTANCES_NOW: &str = "Instances now";
/// Heading of the charts.
pub(crate) const LAST_DAY: &str = "The last 24 hours";
/// Label at the start of a chart's time axis.
pub(crate) const DAY_AGO: &str = "24 h ago";
/// Label at the end of a chart's time axis.
pub(crate) const NOW: &str = "now";
/// Title of the chart of launches, and column head.
pub(crate) const LAUNCHES: &str = "Launches";
/// Legend entry for all launches, in the chart of launches.
pub(crate) const KEY_LAUNCHED: &str = "launched";
/// Legend entry for failed launches, in the chart of launches.
pub(crate) const KEY_FAILED: &str = "failed";
/// Title of the chart of workshops in use.
pub(crate) const IN_USE: &str = "In use";
/// Title of the chart of times from launch to ready.
pub(crate) const LAUNCH_TO_READY: &str = "Launch to ready";
/// Legend of the chart of times to ready: the median.
pub(crate) const KEY_P50: &str = "p50";
/// Legend of the chart of times to ready: the 95th percentile.
pub(crate) const KEY_P95: &str = "p95";
/// Heading of the table of templates.
pub(crate) const BY_TEMPLATE: &str = "By template";
/// Column head: number of failed launches.
pub(crate) const FAILURES: &str = "Failed";
/// Column head: number of ready instances.
pub(crate) const READY_NOW: &str = "Ready now";
/// Column head: median time to ready.
pub(crate) const P50_READY: &str = "p50 to ready";
/// Column head: 95th percentile of the time to ready.
pub(crate) const P95_READY: &str = "p95 to ready";
/// Label that opens the table of hours, and the name of that table.
pub(crate) const BY_HOUR: &str = "Hour by hour";
/// Column head: start of the hour.
pub(crate) const HOUR_FROM: &str = "Start of hour";
/// Column head: workshops in use at the end of the hour.
pub(crate) const IN_USE_AT_END: &str = "In use at the end";
/// Text if no workshop was launched in the last 24 hours.
pub(crate) const NOTHING_LAUNCHED: &str = "No launches in the last 24 hours.";
/// Explanation of the table of hours.
pub(crate) const HOURS_HINT: &str = "A failed launch counts in the hour of its launch. In use counts workshops that \
                                     were ready or ending, without those that failed later.";
/// Placeholder for a missing figure.
pub(crate) const NONE: &str = "–";

/// Formats a time to ready with at most two units: `2.4 s`, `48 s`, `3 min 20 s`, `1 h 5 min`.
pub(crate) fn short(duration: SignedDuration) -> String {
    let (seconds, tenths) = (duration.as_secs(), duration.subsec_millis() / 100);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds @ 0..10) => format!("{seconds}.{tenths} s"),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Formats the median or the 95th percentile of the times to ready; [`NONE`] if unknown.
pub(crate) fn ready(times: Option<ReadyTimes>, which: fn(ReadyTimes) -> SignedDuration) -> String {
    times.map_or_else(|| NONE.to_owned(), |times| short(which(times)))
}

/// Note below the number of launches.
pub(crate) fn launches_note(day: &LaunchStats) -> String {
    match day.failures {
        0 => "none failed".to_owned(),
        failures => format!("{failures} failed ({})", percent(failures, day.launches)),
    }
}

/// Note below the number of workshops in use.
pub(crate) fn use_note(most: u64) -> String {
    format!("now, maximum {most}")
}

/// Note below the median time to ready.
pub(crate) fn ready_note(day: &LaunchStats) -> String {
    day.ready.map_or_else(
        || "no workshop was ready yet".to_owned(),
        |times| format!("median (p50), 95th percentile (p95) {}", short(times.p95)),
    )
}

/// Describes the chart of launches for screen readers.
pub(crate) fn launches_summary(day: &LaunchStats, peak: Option<(u64, usize)>) -> String {
    let most = peak.map(|(most, ago)| format!(" Maximum in one hour: {most}, {}.", when(ago))).unwrap_or_default();
    format!("Launches in each of the last 24 hours: {} in total, {}.{most}", day.launches, launches_note(day))
}

/// Describes the chart of workshops in use for screen readers.
pub(crate) fn use_summary(now: u64, peak: Option<(u64, usize)>) -> String {
    let most = peak.map(|(most, ago)| format!(" Maximum: {most}, {}.", when(ago))).unwrap_or_default();
    format!("Workshops in use at the end of each of the last 24 hours: {now} now.{most}")
}

/// Describes the chart of times to ready for screen readers.
pub(crate) fn ready_summary(day: &LaunchStats, peak: Option<(SignedDuration, usize)>) -> String {
    let Some(times) = day.ready else { return "No workshop became ready in the last 24 hours.".to_owned() };
    let (p50, p95) = (short(times.p50), short(times.p95));
    let slowest = peak.map(|(most, ago)| format!(" Slowest hour, by its p95: {}, {}.", short(most), when(ago)));
    format!(
        "Time from launch to ready in each of the last 24 hours: median {p50}, 95th percentile {p95}.{}",
        slowest.unwrap_or_default()
    )
}

fn when(hours_ago: usize) -> String {
    match hours_ago {
        0 => "in the last hour".to_owned(),
        1 => "1 hour ago".to_owned(),
        hours => format!("{hours} hours ago"),
    }
}

/// Formats a non-zero part as a percentage. Never rounds it to 0 % or 100 %.
fn percent(part: u64, whole: u64) -> String {
    match part * 100 / whole.max(1) {
        0 => "less than 1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_ready_is_shown_with_at_most_two_units() {
        let texts = [0, 2_499, 9_999, 10_000, 59_999, 60_000, 200_900, 3_600_000, 3_900_000, 3_660_000_000];
        let texts = texts.map(|millis| short(SignedDuration::from_millis(millis)));
        let expected =
            ["0.0 s", "2.4 s", "9.9 s", "10 s", "59 s", "1 min", "3 min 20 s", "1 h", "1 h 5 min", "1016 h 40 min"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn low_failure_rate_is_not_shown_as_zero() {
        let day = |launches, failures| LaunchStats { launches, failures, ..LaunchStats::default() };
        let notes = [day(3, 0), day(1000, 1), day(3, 1), day(2, 2)].map(|day| launches_note(&day));
        assert_eq!(notes, ["none failed", "1 failed (less than 1 %)", "1 failed (33 %)", "2 failed (100 %)"]);
    }
}
