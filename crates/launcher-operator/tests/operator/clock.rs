//! Clock and entropy of the tests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{Clock, Entropy};
use tokio::time::Instant;

/// A clock that begins at a given time. It advances with tokio's time, which tests pause, and by `step` with each
/// reading.
#[derive(Debug)]
pub(crate) struct Since {
    from: Timestamp,
    began: Instant,
    step: Duration,
    readings: AtomicU32,
}

impl Since {
    pub(crate) fn new(from: Timestamp, step: Duration) -> Self {
        Self { from, began: Instant::now(), step, readings: AtomicU32::new(0) }
    }
}

impl Clock for Since {
    fn now(&self) -> Timestamp {
        let readings = self.readings.fetch_add(1, Ordering::Relaxed);
        self.from.checked_add(self.began.elapsed() + self.step * readings).unwrap()
    }
}

#[derive(Debug)]
pub(crate) struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0);
    }
}
