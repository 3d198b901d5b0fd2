//! Texts of the admins' overview.

use jiff::SignedDuration;
use launcher_service::{LaunchStats, ReadyTimes};

use crate::pages::language::Language;

impl Language {
    /// Formats a time to ready with at most two units: `2.4 s`, `48 s`, `3 min 20 s`, `1 h 5 min`.
    pub(crate) fn short(self, duration: SignedDuration) -> String {
        let (seconds, tenths) = (duration.as_secs(), duration.subsec_millis() / 100);
        let named = |key: &str, hours: i64, minutes: i64, seconds: String| {
            let values = [("hours", hours.into()), ("minutes", minutes.into()), ("seconds", seconds.into())];
            self.with(key, values)
        };
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds @ 0..10) => {
                let point = self.text("overview-decimal-point");
                named("overview-seconds", 0, 0, format!("{seconds}{point}{tenths}"))
            }
            (0, 0, seconds) => named("overview-seconds", 0, 0, seconds.to_string()),
            (0, minutes, 0) => named("overview-minutes", 0, minutes, String::new()),
            (0, minutes, seconds) => named("overview-minutes-seconds", 0, minutes, seconds.to_string()),
            (hours, 0, _) => named("overview-hours", hours, 0, String::new()),
            (hours, minutes, _) => named("overview-hours-minutes", hours, minutes, String::new()),
        }
    }

    /// Formats the median or the 95th percentile of the times to ready; the placeholder for a missing figure if unknown.
    pub(crate) fn ready(self, times: Option<ReadyTimes>, which: fn(ReadyTimes) -> SignedDuration) -> String {
        times.map_or_else(|| self.text("overview-none").into_owned(), |times| self.short(which(times)))
    }

    /// Note below the number of launches. A percentage above zero is never shown as 0 %.
    pub(crate) fn launches_note(self, day: &LaunchStats) -> String {
        let values = |percent: u64| [("failures", day.failures.into()), ("percent", percent.into())];
        match day.failures * 100 / day.launches.max(1) {
            _ if day.failures == 0 => self.text("overview-none-failed").into_owned(),
            0 => self.with("overview-failed-few", values(0)),
            percent => self.with("overview-failed", values(percent)),
        }
    }

    /// Note below the median time to ready.
    pub(crate) fn ready_note(self, day: &LaunchStats) -> String {
        match day.ready {
            Some(times) => self.with("overview-ready-note", [("p95", self.short(times.p95).into())]),
            None => self.text("overview-not-ready-yet").into_owned(),
        }
    }

    /// Describes the chart of launches for screen readers.
    pub(crate) fn launches_summary(self, day: &LaunchStats, peak: Option<(u64, usize)>) -> String {
        let values = [("launches", day.launches.into()), ("note", self.launches_note(day).into())];
        let summary = self.with("overview-launches-summary", values);
        self.with_peak(summary, "overview-launches-peak", peak.map(|(most, ago)| (most.to_string(), ago)))
    }

    /// Describes the chart of workshops in use for screen readers.
    pub(crate) fn use_summary(self, now: u64, peak: Option<(u64, usize)>) -> String {
        let summary = self.with("overview-use-summary", [("now", now.into())]);
        self.with_peak(summary, "overview-use-peak", peak.map(|(most, ago)| (most.to_string(), ago)))
    }

    /// Describes the chart of times to ready for screen readers.
    pub(crate) fn ready_summary(self, day: &LaunchStats, peak: Option<(SignedDuration, usize)>) -> String {
        let Some(times) = day.ready else { return self.text("overview-never-ready").into_owned() };
        let values = [("p50", self.short(times.p50).into()), ("p95", self.short(times.p95).into())];
        let summary = self.with("overview-ready-summary", values);
        self.with_peak(summary, "overview-ready-peak", peak.map(|(most, ago)| (self.short(most), ago)))
    }

    /// Appends a sentence about the largest value and its age in hours.
    fn with_peak(self, summary: String, key: &str, peak: Option<(String, usize)>) -> String {
        let Some((most, hours)) = peak else { return summary };
        let when = self.with("overview-when", [("hours", hours.into())]);
        format!("{summary} {}", self.with(key, [("most", most.into()), ("when", when.into())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_ready_is_shown_with_at_most_two_units() {
        let texts = [0, 2_499, 9_999, 10_000, 59_999, 60_000, 200_900, 3_600_000, 3_900_000, 3_660_000_000];
        let texts = texts.map(|millis| Language::english().short(SignedDuration::from_millis(millis)));
        let expected =
            ["0.0 s", "2.4 s", "9.9 s", "10 s", "59 s", "1 min", "3 min 20 s", "1 h", "1 h 5 min", "1016 h 40 min"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn low_failure_rate_is_not_shown_as_zero() {
        let day = |launches, failures| LaunchStats { launches, failures, ..LaunchStats::default() };
        let notes = [day(3, 0), day(1000, 1), day(3, 1), day(2, 2)].map(|day| Language::english().launches_note(&day));
        assert_eq!(notes, ["none failed", "1 failed (less than 1 %)", "1 failed (33 %)", "2 failed (100 %)"]);
    }
}
