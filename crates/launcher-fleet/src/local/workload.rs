//! The workload of one Workshop: its record, its app and its supervisor.

mod command;
mod handle;
mod material;
mod monitor;
mod proxy;
mod restore;
mod start;
mod supervisor;

pub(super) use command::inherited;
pub(super) use handle::{Context, Workload};
pub(super) use supervisor::Supervisor;
