//! The pure parts of the operator, through their public doors.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod diagnose;
mod golden;
mod lease;
mod pod_security;
mod presets;
mod support;
mod validate;
