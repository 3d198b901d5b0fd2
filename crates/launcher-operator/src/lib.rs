//! The operator: turns each Workshop into a pod, a Service and an Ingress. It reports the Workshop's state in
//! the status, and terminates the workload at the expiry. It never opens the database.
//!
//! A reconcile has five steps: read the watch cache, [`validate`], [`build`], apply, and derive the status. Validating,
//! building and deriving are pure. [`run`] reconciles only while this operator is the leader.

mod apply;
mod apply_cache;
mod backoff;
pub mod build;
mod children;
mod context;
mod controller;
mod crash_record;
mod deletion;
pub mod diagnose;
mod disrupted_pods;
mod downloads;
mod failure_details;
mod first_seen;
mod guarded;
mod identifiers;
pub mod lease;
mod live_read;
mod metrics;
mod orphans;
mod owner;
mod pod_annotation;
mod pod_crashes;
mod pod_expiry;
mod pod_policy;
mod reconcile;
mod refusal;
mod requeue;
mod run;
pub mod settings;
mod start_steps;
mod status;
mod status_write;
pub mod traces;
mod transitions;
pub mod validate;
mod volume_users;
mod wanted;
pub mod workload;

pub use identifiers::{FIELD_MANAGER, RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL};
pub use metrics::Metrics;
pub use run::{Operator, run};
pub use settings::{Exposure, OperatorSettings};
