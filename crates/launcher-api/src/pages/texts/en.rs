//! English.

mod activity;
pub(crate) mod editor;
mod errors;
pub(crate) mod fields;
mod frame;
mod instances;
mod kinds;
mod notices;
pub(crate) mod overview;
mod workshops;

use jiff::Timestamp;

pub(crate) use activity::*;
pub(crate) use errors::*;
pub(crate) use frame::*;
pub(crate) use instances::*;
pub(crate) use kinds::*;
pub(crate) use notices::*;
pub(crate) use workshops::*;

/// The language, as used in `<html lang>` and the script's `Intl`.
pub(crate) const LANGUAGE: &str = "en";

/// Link to older entries of a list.
pub(crate) const OLDER: &str = "Older";
/// A filter's name for screen readers.
pub(crate) const FILTER: &str = "Filter";
/// The button of a filter.
pub(crate) const FILTER_SHOW: &str = "Show";
/// Link that clears a filter.
pub(crate) const FILTER_RESET: &str = "Reset";
/// Placeholder of an e-mail field.
pub(crate) const ADDRESS_EXAMPLE: &str = "name@example.org";

/// A number with its unit, in words.
fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// A duration in words, without seconds from one minute on: `2 hours 5 minutes`. Negative values count as zero. The
/// script uses `Intl` unit names of this language, with the same result.
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

/// A date with a time; the script converts it to local time.
pub(crate) fn date_and_time(at: Timestamp) -> String {
    at.strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// A time of day, for times close to now.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    at.strftime("%H:%M UTC").to_string()
}
