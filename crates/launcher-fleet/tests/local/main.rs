//! The local fleet with real processes: small Python and shell programs.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod copies;
mod escapes;
mod failures;
mod files;
mod gateway;
mod lifecycle;
mod ports;
mod proofs;
mod restart;
mod saving;
mod support;
mod tokens;
