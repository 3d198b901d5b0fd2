//! The workload of one Workshop: its record, its app and its supervisor.

mod command;
mod context;
mod handle;
mod jupyter;
mod login;
mod program;
mod proxy;
mod supervised;
mod supervisor;

pub(super) use context::Context;
pub(super) use handle::Workload;
pub use program::ProgramFault;
pub(super) use program::check_program;
pub(super) use supervisor::Supervisor;
