//! Tests of the placement of course material, with real servers on the loopback address.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation is a failed test")]

mod archives;
mod check;
mod differences;
mod git;
mod hostile;
mod image;
mod kill;
mod links;
mod locked;
mod memory;
mod merge;
mod private;
mod program;
mod property;
mod receive;
mod restore;
mod servers;
mod space;
mod state;
mod support;
mod tls;
