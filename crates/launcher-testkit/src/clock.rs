//! A clock that a test sets.

use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::Clock;

/// A clock that stands still until a test moves it.
#[derive(Debug)]
pub struct TestClock(Mutex<Timestamp>);

impl TestClock {
    /// A clock that stands at 2026-01-01T09:00:00Z, when a class starts.
    #[must_use]
    pub fn new() -> Self {
        Self(Mutex::new("2026-01-01T09:00:00Z".parse().unwrap()))
    }

    /// Moves it forward.
    pub fn advance(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now += SignedDuration::from_secs(seconds);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}
