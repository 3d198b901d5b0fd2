//! Limits that prevent one person, one course or one mistake from using all capacity.

use std::time::Duration;

use jiff::Timestamp;

/// Limits of the launcher. Each is a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of one person's instances, without ended and failed instances
    /// ([`counts_against_limit`](crate::Instance::counts_against_limit)). Admins are exempt.
    pub max_instances_per_user: u32,
    /// Launch rate limit of one person. Admins are exempt.
    pub launch_rate: LaunchRate,
    /// Maximum number of instances in state starting. Further launches wait in the queue.
    pub max_concurrent_starts: u32,
    /// Maximum number of queued instances. Further launches are refused.
    pub max_queued: u32,
    /// Maximum time from starting to ready.
    pub start_timeout: Duration,
    /// Retention of ended instances and of activity log entries.
    pub history: Duration,
    /// Retention of volumes after their last use; `None` without end.
    pub volume_retention: Option<Duration>,
    /// Maximum total size of one person's volumes, in GiB; `None` without limit. Admins are exempt.
    pub max_storage_gib_per_user: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_instances_per_user: 3,
            launch_rate: LaunchRate { per_minute: 6, burst: 20 },
            max_concurrent_starts: 64,
            max_queued: 1000,
            start_timeout: Duration::from_secs(600),
            history: Duration::from_secs(30 * 24 * 3600),
            volume_retention: Some(Duration::from_secs(180 * 24 * 3600)),
            max_storage_gib_per_user: None,
        }
    }
}

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
