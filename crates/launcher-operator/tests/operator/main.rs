//! The operator through its public API: its pure parts, and the whole operator with an API server in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod cluster;
mod diagnose;
mod golden;
mod isolation;
mod lease;
mod pod_security;
mod pod_status;
mod presets;
mod proxy_secret;
mod refusals;
mod rollout;
mod stale_cache;
mod support;
mod traces;
mod validate;
