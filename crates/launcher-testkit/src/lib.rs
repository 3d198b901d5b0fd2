//! What the tests of the workshop launcher share: an application that listens on a port of its own, whose users are
//! HTTP clients, whose fleet and clock a test drives.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up fails at once")]

mod app;
mod client;
mod clock;
mod entropy;
mod events;
mod fleet;
pub mod metrics;
mod poll;

pub use app::{ADMIN, ALICE, BOB, Options, TestApp, Users};
pub use client::{Client, Reply};
pub use clock::TestClock;
pub use entropy::TestEntropy;
pub use events::{EventStream, ServerEvent};
pub use fleet::{FakeFleet, Fault};
pub use poll::eventually;
