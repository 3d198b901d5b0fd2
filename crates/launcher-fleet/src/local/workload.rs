//! The workload of one Workshop: its record, its app and its supervisor.

mod command;
mod context;
mod desired_state;
mod handle;
mod jupyter;
mod login;
mod program;
mod proxy;
mod stored_record;
mod supervisor;

pub(super) use context::Context;
pub(super) use desired_state::DesiredState;
pub(super) use handle::Workload;
pub use program::ProgramFault;
pub(super) use program::check_program;
pub(super) use proxy::AppProxy;
pub(super) use supervisor::Supervisor;
