//! The launch rate limit of one person.

use std::time::Duration;

use jiff::Timestamp;

/// Token bucket: each launch takes one token, and the bucket refills at a steady rate.
///
/// The only state of a bucket is the time at which it is full again. A full bucket needs no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchRate {
    /// Tokens added per minute, 1 to 60,000.
    pub per_minute: u32,
    /// Tokens in a full bucket, at least 1.
    pub burst: u32,
}

impl LaunchRate {
    /// Takes a token from a bucket that is full again at `full_at`. Returns the new time at which it is full again.
    ///
    /// `full_at` may be too far in the future, because the settings were changed or a clock was wrong. The bucket then
    /// counts as empty, so the wait is never longer than for one token.
    ///
    /// # Errors
    /// If the bucket is empty: the time until the next token.
    pub fn take(self, full_at: Timestamp, now: Timestamp) -> Result<Timestamp, Duration> {
        let interval = (60_000 / i64::from(self.per_minute.max(1))).max(1);
        let capacity = interval * i64::from(self.burst.max(1));
        let missing = full_at.as_millisecond().saturating_sub(now.as_millisecond()).clamp(0, capacity) + interval;
        match u64::try_from(missing - capacity) {
            Ok(wait) if wait > 0 => Err(Duration::from_millis(wait)),
            _ => Ok(now.checked_add(Duration::from_millis(missing.unsigned_abs())).unwrap_or(Timestamp::MAX)),
        }
    }
}
