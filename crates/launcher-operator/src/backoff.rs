//! Exponential backoff for each Workshop, from 250 ms to 30 s.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Number of consecutive failures of each Workshop.
#[derive(Debug, Default)]
pub(crate) struct Backoff(Mutex<HashMap<String, u32>>);

impl Backoff {
    /// Counts a failure and returns the delay.
    pub(crate) fn failed(&self, name: &str) -> Duration {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(name.to_owned()).or_default();
        let delay = FIRST.saturating_mul(1 << (*count).min(16)).min(LONGEST);
        *count = count.saturating_add(1);
        delay
    }

    /// Resets the backoff of a Workshop that succeeded or is gone.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_is_exponential_and_separate_for_each_workshop() {
        let backoff = Backoff::default();
        let delays: Vec<u128> = (0..9).map(|_| backoff.failed("a").as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(backoff.failed("b"), FIRST);
        backoff.forget("a");
        assert_eq!(backoff.failed("a"), FIRST);
    }

    #[test]
    fn backoff_of_100_failures_stays_within_maximum() {
        let backoff = Backoff::default();
        assert!((0..100).map(|_| backoff.failed("a")).all(|delay| delay <= LONGEST));
    }
}
