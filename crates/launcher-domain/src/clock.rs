//! Time and randomness, passed in, so that a test decides both.

use std::fmt::Debug;

use jiff::Timestamp;

/// Where the time comes from.
pub trait Clock: Debug + Send + Sync {
    /// Now, in whole milliseconds: what is stored and sent is what was read.
    fn now(&self) -> Timestamp;
}

/// Where random bytes come from.
pub trait Entropy: Debug + Send + Sync {
    /// Fills the buffer with bytes that nobody can guess.
    fn fill(&self, buffer: &mut [u8]);
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

/// The kernel's random numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the kernel's random numbers")]
    #[expect(clippy::expect_used, reason = "without randomness a name could be guessed: nothing may go on")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the kernel gives random numbers");
    }
}
