//! Source of random numbers that a test can make fail.

use std::sync::atomic::{AtomicBool, Ordering};

use launcher_domain::Entropy;
use launcher_domain::clock::SystemEntropy;

/// The system's random number source. While a test has broken it, each use panics.
#[derive(Debug, Default)]
pub struct TestEntropy {
    broken: AtomicBool,
}

impl TestEntropy {
    /// Breaks or repairs the source.
    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }
}

impl Entropy for TestEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        assert!(!self.broken.load(Ordering::SeqCst), "the random numbers are broken");
        SystemEntropy.fill(buffer);
    }
}
