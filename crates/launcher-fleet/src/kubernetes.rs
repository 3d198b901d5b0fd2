//! The fleet on Kubernetes: each Workshop is a custom resource in one namespace. The operator runs its workload.

mod archives;
mod doctor;
mod download;
mod error;
mod fleet;
mod resource;
mod secret;
mod watch;

pub use doctor::{ApiServer, Definition, ExampleWorkshop, KubernetesExamination, Leader, MemoryKill, PendingWorkshops};
pub use fleet::KubernetesFleet;
