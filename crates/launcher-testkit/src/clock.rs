//! A clock that a test sets.

use std::sync::Mutex;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::Clock;

/// A clock that advances only when a test advances it, and by one millisecond with each reading. Rows that are created
/// later therefore have later times.
#[derive(Debug)]
pub struct TestClock(Mutex<Timestamp>);

impl Default for TestClock {
    /// Creates a clock that shows a Monday morning.
    fn default() -> Self {
        Self(Mutex::new("2026-03-02T08:00:00Z".parse().unwrap()))
    }
}

impl TestClock {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(SignedDuration::try_from(by).unwrap()).unwrap();
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let mut now = self.0.lock().unwrap();
        *now = now.checked_add(SignedDuration::from_millis(1)).unwrap();
        *now
    }
}
