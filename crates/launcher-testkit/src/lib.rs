//! What the tests of several crates share. Only tests use it; it never ships.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says where by panicking")]

mod clock;
mod eventually;
mod fleet;

pub use clock::TestClock;
pub use eventually::eventually;
pub use fleet::{FakeFleet, Fault};
