//! Texts for numbers, durations and times.

use jiff::Timestamp;

/// Formats a number with its unit, in words.
pub(super) fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// Formats a duration in words: `2 hours 5 minutes`. From one minute on, it omits the seconds. Negative values count as
/// zero. The script formats durations with `Intl`, with the same result.
pub(crate) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let parts: Vec<String> = [(days, "day"), (hours, "hour"), (minutes, "minute")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, unit)| counted(count, unit))
        .collect();
    if parts.is_empty() { counted(seconds, "second") } else { parts.join(" ") }
}

/// Formats a date with a time. The script converts it to local time.
pub(crate) fn date_and_time(at: Timestamp) -> String {
    at.strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// Formats a time of day, for times close to now.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    at.strftime("%H:%M UTC").to_string()
}
