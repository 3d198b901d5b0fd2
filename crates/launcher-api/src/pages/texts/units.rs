//! Texts for durations and times.

use std::time::Duration;

use jiff::Timestamp;

use crate::pages::language::Language;

impl Language {
    /// Formats a duration in words: `2 hours 5 minutes`. From one minute on, it omits the seconds. Negative values count
    /// as zero. The script formats durations with `Intl`, with about the same result.
    pub(crate) fn duration(self, seconds: i64) -> String {
        let seconds = seconds.max(0);
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        let counted = |(key, count): (&str, i64)| self.with(key, [("count", count.into())]);
        let parts: Vec<String> = [("days", days), ("hours", hours), ("minutes", minutes)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(counted)
            .collect();
        let joined = parts
            .into_iter()
            .reduce(|first, second| self.with("duration-joined", [("first", first.into()), ("second", second.into())]));
        joined.unwrap_or_else(|| counted(("seconds", seconds)))
    }

    /// Formats the time for which files are saved, in words.
    pub(crate) fn retention(self, time: Duration) -> String {
        self.duration(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
    }

    /// Formats the size of a file, rounded up: in kB below 1 MB, else in MB.
    pub(crate) fn size(self, bytes: u64) -> String {
        let (key, unit) = if bytes < 1_000_000 { ("size-kilobytes", 1000) } else { ("size-megabytes", 1_000_000) };
        self.with_one(key, "count", self.number(bytes.div_ceil(unit)))
    }

    /// Formats a number with the separator of thousands.
    pub(crate) fn number(self, number: u64) -> String {
        let (digits, separator) = (number.to_string(), self.text("thousands-separator"));
        let groups: Vec<&str> =
            digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
        groups.join(&separator)
    }

    /// Formats a date with a time. The script converts it to local time.
    pub(crate) fn date_and_time(self, at: Timestamp) -> String {
        at.strftime(&*self.text("date-and-time-format")).to_string()
    }

    /// Formats a time of day, for times close to now.
    pub(crate) fn time_of_day(self, at: Timestamp) -> String {
        at.strftime(&*self.text("time-of-day-format")).to_string()
    }

    /// States the lifetime of a template's workshops, and how far they can be extended.
    pub(crate) fn lasts(self, lifetime_seconds: u32, max_lifetime_seconds: u32) -> String {
        let lifetime = ("lifetime", self.duration(lifetime_seconds.into()).into());
        if max_lifetime_seconds > lifetime_seconds {
            let longest = ("longest", self.duration(max_lifetime_seconds.into()).into());
            self.with("lasts-extensible", [lifetime, longest])
        } else {
            self.with("lasts", [lifetime])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_rounded_up_to_kilobytes_or_megabytes() {
        let text = |bytes| Language::english().size(bytes);
        let sizes = [0, 1, 1000, 1001, 999_999, 1_000_000, 5_300_000, 2 << 30];
        assert_eq!(sizes.map(text), ["0 kB", "1 kB", "1 kB", "2 kB", "1,000 kB", "1 MB", "6 MB", "2,148 MB"]);
        assert_eq!(Language::with_code("fr").unwrap().size(1_234_567_890), "1\u{a0}235\u{a0}Mo");
    }
}
