//! Exponential backoff of failed reconciles: from 250 ms to 30 s, separately for each Workshop.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use launcher_domain::sync::lock;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Number of consecutive failed reconciles of each Workshop, by name.
#[derive(Debug, Default)]
pub(crate) struct Backoff(Mutex<HashMap<String, u32>>);

impl Backoff {
    /// Counts a failed reconcile, and returns the delay before the next one.
    pub(crate) fn failed(&self, name: &str) -> Duration {
        let mut failures = lock(&self.0);
        let count = failures.entry(name.to_owned()).or_default();
        let delay = FIRST.saturating_mul(1 << (*count).min(16)).min(LONGEST);
        *count = count.saturating_add(1);
        delay
    }

    /// Resets the backoff of a Workshop after a successful reconcile or its deletion.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.0).remove(name);
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
    fn backoff_never_exceeds_maximum_after_100_failures() {
        let backoff = Backoff::default();
        assert!((0..100).map(|_| backoff.failed("a")).all(|delay| delay <= LONGEST));
    }
}
