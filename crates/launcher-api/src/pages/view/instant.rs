//! A point in time on a page.

use jiff::Timestamp;

use crate::pages::language::Language;

/// Distance from now, in seconds, below which a time is shown without a date.
const NEAR_SECONDS: i64 = 12 * 3600;

/// A point in time, for the HTML element `<time>`.
#[derive(Debug, Clone)]
pub(crate) struct Instant {
    /// The time in RFC 3339, UTC, for the script.
    pub(crate) machine: String,
    /// The time as text for people, in UTC. The script replaces it by local time.
    pub(crate) human: String,
}

impl Instant {
    /// Formats a point in time with its date.
    pub(crate) fn new(t: Language, at: Timestamp) -> Self {
        Self { machine: at.to_string(), human: t.date_and_time(at) }
    }

    /// Formats a point in time as seen at `now`: without a date if it is less than [`NEAR_SECONDS`] away. Later the
    /// page's script replaces the text with the local time. Both have about the same length, so that the layout does
    /// not shift.
    pub(super) fn seen_at(t: Language, now: Timestamp, at: Timestamp) -> Self {
        if (at.as_second() - now.as_second()).abs() < NEAR_SECONDS {
            Self { human: t.time_of_day(at), ..Self::new(t, at) }
        } else {
            Self::new(t, at)
        }
    }
}
