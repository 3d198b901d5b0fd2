//! The operator: turns each Workshop into a Deployment, a Service and an Ingress, reports its state in the status, and
//! terminates it at its expiry. It never opens the database.
//!
//! A reconcile has five steps: read the watch cache, [`validate`] and [`build`] (pure), apply, and derive the status
//! (pure). [`run`] does all of it under leader election.

mod apply;
mod backoff;
pub mod build;
mod children;
mod context;
mod controller;
pub mod diagnose;
mod evidence;
mod first_seen;
pub mod lease;
#[cfg(test)]
#[path = "../../launcher-testkit/src/metrics.rs"]
#[expect(unreachable_pub, reason = "others use it as a part of their test kit")]
mod listed;
mod live;
mod metrics;
mod reconcile;
mod refusal;
pub mod rollout;
mod run;
pub mod settings;
mod status;
pub mod traces;
mod transitions;
pub mod validate;

pub use metrics::Metrics;
pub use run::{Operator, run};
pub use settings::{Exposure, IngressSettings, OperatorSettings, Placement, PullPolicy, SidecarSettings, Toleration};

/// The single field manager of every server-side apply by the operator.
pub const FIELD_MANAGER: &str = "workshop-operator";
/// Label on a workshop's pods with the name of their Workshop. The Service and the Deployment select by it.
pub const WORKSHOP_LABEL: &str = "workshoplauncher.dev/workshop";
