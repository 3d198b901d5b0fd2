//! The operator: turns each Workshop into a pod, a Service and an Ingress. It reports the Workshop's state in
//! the status, and terminates the workload at the expiry. It never opens the database.
//!
//! A reconcile has five steps: read the watch cache, [`validate`], [`build`], apply, and derive the status. Validating,
//! building and deriving are pure. [`run`] reconciles only while this operator is the leader.

mod apply;
pub mod build;
mod children;
mod context;
pub mod diagnose;
mod downloads;
pub mod lease;
mod live_read;
mod metadata;
mod metrics;
mod reconcile;
mod run;
pub mod settings;
mod status;
pub mod traces;
pub mod validate;
pub mod workload;

pub use children::prune_pod;
pub use metadata::{FIELD_MANAGER, RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL};
pub use metrics::Metrics;
pub use run::{Operator, run};
pub use settings::{Exposure, OperatorSettings};
