//! Durations as people write them: `2h`, `90 min`, `1 h 30 min`, `7200`.

use crate::coded_text::{TextKey, coded_texts};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Units, greatest first: seconds, and the accepted names in lower case.
const UNITS: [(u64, &[&str]); 4] = [
    (DAY, &["d", "day", "days"]),
    (HOUR, &["h", "hr", "hrs", "hour", "hours"]),
    (MINUTE, &["m", "min", "mins", "minute", "minutes"]),
    (1, &["s", "sec", "secs", "second", "seconds"]),
];

coded_texts! {
    /// Reason why a text is not a duration.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum DurationError {
        /// The text is empty, or has other characters or units.
        Unreadable = "duration-unreadable", "write a duration such as 2 h, 90 min, 1 h 30 min or 2 days";
        /// The text has a colon.
        Colon = "duration-colon",
            "a duration with a colon is ambiguous: write 1 h 30 min for hours, 1 min 30 s for minutes";
        /// A unit is repeated, or follows a smaller one, or a later number has no unit.
        Order = "duration-order", "write the greatest unit first, and each unit once, as in 1 h 30 min";
        /// The duration exceeds 4,294,967,295 seconds.
        TooLong = "duration-too-long", "the duration is too long";
    }
}

impl DurationError {
    /// Returns the key of this error for translators: `input-<code>`.
    #[must_use]
    pub fn key(&self) -> TextKey {
        TextKey::of("input", &self.coded())
    }
}

/// Parses a duration, and returns it in seconds. A number without a unit means seconds. Letters may be in any case.
///
/// # Errors
/// [`DurationError`] with the reason.
pub fn parse_duration(text: &str) -> Result<u32, DurationError> {
    if text.contains(':') {
        return Err(DurationError::Colon);
    }
    let text = text.trim().to_ascii_lowercase();
    if is_number(&text) {
        return text.parse().map_err(|_| DurationError::TooLong);
    }
    let mut rest = text.as_str();
    let mut smallest = u64::MAX;
    let mut seconds: u64 = 0;
    while !rest.is_empty() {
        let (number, unit, after) = next_part(rest)?;
        let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        if unit >= smallest {
            return Err(DurationError::Order);
        }
        smallest = unit;
        let part = number.checked_mul(unit).ok_or(DurationError::TooLong)?;
        seconds = seconds.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    if smallest == u64::MAX {
        return Err(DurationError::Unreadable);
    }
    u32::try_from(seconds).map_err(|_| DurationError::TooLong)
}

/// Splits off a number and its unit. Returns the number's digits, the unit in seconds, and the rest of the text.
fn next_part(text: &str) -> Result<(&str, u64, &str), DurationError> {
    let (number, rest) = split_while(text, |character| character.is_ascii_digit());
    let (name, after) = split_while(rest.trim_start(), |character| character.is_ascii_alphabetic());
    if number.is_empty() {
        return Err(DurationError::Unreadable);
    }
    if name.is_empty() && after.trim_start().is_empty() {
        return Err(DurationError::Order);
    }
    let unit = UNITS.iter().find(|(_, names)| names.contains(&name)).ok_or(DurationError::Unreadable)?;
    Ok((number, unit.0, after.trim_start()))
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|character| !belongs(character)).unwrap_or(text.len()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats seconds with the greatest possible units, without zero parts: `1 h 30 min`, `2 days`. [`parse_duration`]
/// accepts the text.
#[must_use]
pub fn duration(seconds: u32) -> String {
    let mut rest = u64::from(seconds);
    let mut parts = Vec::new();
    for (unit, name) in [(DAY, "days"), (HOUR, "h"), (MINUTE, "min"), (1, "s")] {
        let count = rest / unit;
        rest %= unit;
        if count > 0 {
            let name = if unit == DAY && count == 1 { "day" } else { name };
            parts.push(format!("{count} {name}"));
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}
