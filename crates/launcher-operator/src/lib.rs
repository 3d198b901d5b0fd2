//! The operator: turns each Workshop into a Deployment, a Service and an Ingress, says in its status how it is doing, and
//! ends it when its time is up. It never opens the database.
//!
//! A reconcile is five steps: dereference (what is there), [`validate`] and [`build`] (pure), apply, and status (pure).
//! [`run`] is all of it, behind a leader election.

mod apply;
mod backoff;
pub mod build;
mod children;
mod context;
mod controller;
pub mod diagnose;
mod evidence;
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
mod since;
mod status;
pub mod traces;
mod transitions;
pub mod validate;

pub use metrics::Metrics;
pub use run::{Operator, run};
pub use settings::{IngressSettings, OperatorSettings, Placement, PullPolicy, SidecarSettings, Toleration, WayIn};

/// The one field manager of everything that the operator applies.
pub const FIELD_MANAGER: &str = "workshop-operator";
/// The label on a workshop's pods that names their Workshop: what the Service and the Deployment select by.
pub const WORKSHOP_LABEL: &str = "workshoplauncher.dev/workshop";
