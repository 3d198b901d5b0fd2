//! Tests of the start of each app type: command, arguments, environment, files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod container;
mod environment;
mod process;
mod sidecar;
mod support;
