//! Tests of the local fleet with real processes. The apps are small Python and shell programs.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod app_files;
mod contract;
mod copies;
mod crashes;
mod escapes;
mod failures;
mod files;
mod frame;
mod gateway;
mod kill;
mod launcher_process;
mod lifecycle;
mod material;
mod parameters;
mod ports;
mod proofs;
mod restart;
mod restore;
mod saving;
mod support;
mod tokens;
mod volumes;
