//! Time and randomness are passed in as parameters, so that a test controls both.

use std::fmt::Debug;

use jiff::Timestamp;

/// Source of the time.
pub trait Clock: Debug + Send + Sync {
    /// The current time in whole milliseconds. The database and the API use the same precision, so neither rounds it.
    fn now(&self) -> Timestamp;
}

/// Source of random bytes.
pub trait Entropy: Debug + Send + Sync {
    /// Fills the buffer with unpredictable bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// Returns this number of unpredictable bytes in hexadecimal digits.
pub fn random_hex<const BYTES: usize>(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; BYTES];
    entropy.fill(&mut bytes);
    hex::encode(bytes)
}

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// The kernel's random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the kernel's random number generator")]
    #[expect(clippy::expect_used, reason = "without randomness a name could be guessed: the process must not continue")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the kernel provides random numbers");
    }
}
