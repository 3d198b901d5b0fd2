//! Random numbers that a test can break.

use std::sync::atomic::{AtomicBool, Ordering};

use launcher_domain::Entropy;
use launcher_domain::clock::SystemEntropy;

/// The system's random numbers. While a test has broken them, every draw panics.
#[derive(Debug, Default)]
pub struct TestEntropy {
    broken: AtomicBool,
}

impl TestEntropy {
    /// Breaks or repairs them.
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
