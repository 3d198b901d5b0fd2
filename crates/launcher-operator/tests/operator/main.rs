//! Tests of the operator's public API: the pure functions, and the whole operator with a simulated API server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod cluster;
mod crash_safe;
mod crashes;
mod deletion;
mod diagnose;
mod diagnose_failures;
mod disruption;
mod downloads;
mod failure_details;
mod golden;
mod isolation;
mod lease;
mod material;
mod material_report;
mod name_suffix;
mod namespaces;
mod parameters;
mod pod_expiry;
mod pod_security;
mod pod_status;
mod pod_template;
mod presets;
mod proxy_secret;
mod reconcile;
mod refusals;
mod restart;
mod saved_files;
mod snapshot;
mod stale_cache;
mod storage;
mod support;
mod traces;
mod validate;
mod workload;
