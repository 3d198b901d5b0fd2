//! Random numbers and clocks of the simulation. The seed of the run determines both.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{Clock, Entropy};
use tokio::time::Instant;

/// A small random number generator (SplitMix64): the same seed gives the same numbers, independent of library versions.
#[derive(Debug, Clone)]
pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    /// Returns a generator for one purpose. Its numbers do not depend on the use of other generators.
    pub(crate) fn about(seed: u64, what: &str) -> Self {
        // Hash function FNV-1a.
        let hash = what
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
        Self::new(seed ^ hash)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.draw() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// Returns true with a probability of `per_mille` / 1000.
    pub(crate) fn happens(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }

    pub(crate) fn millis(&mut self, least: usize, most: usize) -> Duration {
        Duration::from_millis(u64::try_from(least + self.below(most - least + 1)).unwrap())
    }
}

/// Time of the clock at the begin of each run: 2026-03-02T08:00:00Z.
const BEGIN: Timestamp = Timestamp::constant(1_772_438_400, 0);

/// The true time of the simulation. The clock of a process may differ from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time(Instant);

impl Time {
    pub(crate) fn begins() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn passed(self) -> Duration {
        self.0.elapsed()
    }

    pub(crate) fn now(self) -> Timestamp {
        BEGIN + SignedDuration::from_millis(i64::try_from(self.passed().as_millis()).unwrap())
    }
}

/// The clock of one process, possibly wrong.
#[derive(Debug)]
pub(crate) struct SkewedClock {
    time: Time,
    wrong_by_millis: AtomicI64,
}

impl SkewedClock {
    pub(crate) fn new(time: Time) -> Self {
        Self { time, wrong_by_millis: AtomicI64::new(0) }
    }

    pub(crate) fn set_wrong_by(&self, millis: i64) {
        self.wrong_by_millis.store(millis, Ordering::SeqCst);
    }
}

impl Clock for SkewedClock {
    fn now(&self) -> Timestamp {
        self.time.now() + SignedDuration::from_millis(self.wrong_by_millis.load(Ordering::SeqCst))
    }
}

/// Random bytes determined by the seed.
#[derive(Debug)]
pub(crate) struct SeededEntropy(Mutex<SeededRng>);

impl SeededEntropy {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(SeededRng::about(seed, "entropy")))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        let mut rng = self.0.lock().unwrap();
        for byte in buffer {
            *byte = u8::try_from(rng.draw() & 0xFF).unwrap();
        }
    }
}
