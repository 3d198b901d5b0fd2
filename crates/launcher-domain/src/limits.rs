//! The limits that keep one person, one class or one mistake from taking everything.

use std::time::Duration;

/// How much is allowed. Every limit is a setting of the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many instances one person may hold in the states queued, starting and running. Admins are exempt.
    pub max_instances_per_user: u32,
    /// How many workshops may be in state starting at once: what is launched beyond that waits in line.
    pub max_concurrent_starts: u32,
    /// How many launches may wait in line before a launch is refused.
    pub max_queued: u32,
    /// How long a workshop may take from starting to ready.
    pub start_timeout: Duration,
    /// How long an ended instance stays readable.
    pub history: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_instances_per_user: 3,
            max_concurrent_starts: 64,
            max_queued: 1000,
            start_timeout: Duration::from_secs(600),
            history: Duration::from_secs(30 * 24 * 3600),
        }
    }
}
