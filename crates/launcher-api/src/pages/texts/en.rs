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

/// The language, as `<html lang>` and the script's `Intl` name it.
pub(crate) const LANGUAGE: &str = "en";

/// Leads to the part of a list that is older.
pub(crate) const OLDER: &str = "Older";
/// Of a filter: its name for screen readers.
pub(crate) const FILTER: &str = "Filter";
/// The button of a filter.
pub(crate) const FILTER_SHOW: &str = "Show";
/// Filters nothing any more.
pub(crate) const FILTER_RESET: &str = "Reset";
/// Stands in an empty field for an address.
pub(crate) const ADDRESS_EXAMPLE: &str = "name@example.org";

/// An amount of things, in words.
fn counted(count: i64, unit: &str) -> String {
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

/// A duration in words, to the minute from a minute on: `2 hours 5 minutes`. Below zero is zero. The script says the
/// same of what it counts, in the words that `Intl` has for the units of this language.
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

/// A day and a time of it, until the script makes it local.
pub(crate) fn date_and_time(at: Timestamp) -> String {
    at.strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// A time of a day that is near.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    at.strftime("%H:%M UTC").to_string()
}
