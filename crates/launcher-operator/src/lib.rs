//! The operator: turns each Workshop into the objects of its workload. It reports the Workshop's state in
//! the status, and terminates the workload at the expiry. It never opens the database.
//!
//! A reconcile has six steps: look at the watch cache, [`validate`], [`build`], apply, decide, and write the status.
//! Validating, building and deciding are pure. The fleets share the decision: [`launcher_workshop::lifecycle`]. [`run`]
//! reconciles only while this operator is the leader.

mod apply;
pub mod build;
mod cache;
mod children;
mod context;
pub mod diagnose;
mod downloads;
mod failure_details;
pub mod lease;
mod live_read;
mod memory;
mod metadata;
mod metrics;
mod reconcile;
mod run;
pub mod settings;
pub mod traces;
pub mod validate;
pub mod workload;
mod write;

pub use children::prune_pod;
pub use metadata::{FIELD_MANAGER, RESTARTED_AT, VOLUME_LABEL, WORKSHOP_LABEL};
pub use metrics::Metrics;
pub use run::{Operator, run};
pub use settings::{Exposure, OperatorSettings};
