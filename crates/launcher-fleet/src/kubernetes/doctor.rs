//! For `launcher doctor`: examines a cluster with the launcher's own rights, without changing it.

mod definition;
mod examination;
mod memory_kill;
mod operator;
mod rights;

pub use definition::Definition;
pub use examination::{ApiServer, KubernetesExamination};
pub use memory_kill::MemoryKill;
pub use operator::{ExampleWorkshop, Leader, PendingWorkshops};
