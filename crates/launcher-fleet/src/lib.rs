//! The port [`Fleet`], which turns Workshops into running workloads, and its adapters for Kubernetes and one machine.

mod kubernetes;
mod local;
mod port;

pub use kubernetes::KubernetesFleet;
pub use local::keeper;
pub use local::{Gateway, LocalFleet, LocalFleetError, LocalSettings};
pub use port::{Deletion, Fleet, FleetError, FleetEvent};

/// For `launcher doctor`: examines a fleet without changing it.
pub mod doctor {
    pub use crate::kubernetes::{ApiServer, Definition, KubernetesExamination, Leader, PendingWorkshops};
    pub use crate::local::{LocalExamination, ProgramFault};
}
