//! The local fleet: runs Workshops as processes on this machine, for development and for a single trusted user.
//!
//! **The local fleet does not isolate workshops from each other.** Every workshop runs as the launcher's user and may
//! read that user's files. Every program on this machine can connect to an app's loopback port; JupyterLab requires a
//! token there. Otherwise a Workshop is the same as on a cluster: the same spec and status, a separate origin, and the
//! same sidecar (see [`Gateway`](crate::Gateway)).
//!
//! The state of each Workshop is in one file, which is written before a change is visible to others. The local fleet reads
//! `/proc` and therefore runs on Linux only.

mod doctor;
mod fleet;
mod ports;
mod process;
mod records;
mod settings;
mod workload;

pub use doctor::{LocalExamination, ProgramFault};
pub use fleet::LocalFleet;
pub use process::keeper;
pub use settings::{LocalPrograms, LocalSettings};
