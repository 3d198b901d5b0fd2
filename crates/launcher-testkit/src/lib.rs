//! Shared test support of the workshop launcher: an application with its own listener, HTTP clients as its users, a
//! fleet and a clock that the test controls, and the contract of all fleets.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up fails at once")]

mod app;
mod client;
mod clock;
mod entropy;
mod events;
mod fleet;
pub mod fleet_contract;
mod folder;
mod machine;
pub mod metrics;
mod poll;

pub use app::{ADMIN, ALICE, BOB, Options, TestApp, Users};
pub use client::{Client, Reply};
pub use clock::TestClock;
pub use entropy::TestEntropy;
pub use events::{EventStream, ServerEvent};
pub use fleet::{Delay, FakeFleet, Fault, running_status};
pub use folder::memory_folder;
pub use machine::machine_settings;
pub use poll::{DEADLINE, FrozenTime, eventually, in_time, wait_until};
