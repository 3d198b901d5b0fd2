//! The fleet on Kubernetes: each Workshop is a custom resource in one namespace. The operator runs its workload.

mod archives;
mod definition;
mod doctor;
mod error;
mod fleet;
mod restore;
mod secret;

pub use definition::Definition;
pub use doctor::{ApiServer, ExampleWorkshop, KubernetesExamination, Leader, MemoryKill, PendingWorkshops};
pub use fleet::KubernetesFleet;
