//! Processes of the apps: their identity, their keeper, and their termination.

mod exit;
pub mod keeper;
mod keeper_handle;
mod keeper_report;
mod process_id;
mod scanner;
mod snapshot;
mod termination;

pub(super) use exit::ExitWatch;
pub(super) use keeper_handle::{AppStart, KeeperHandle, StartError};
pub(super) use process_id::{KEEPER_MARKER, MARKER, PersistentProcessId, ProcessId};
pub(super) use scanner::ProcessScanner;
pub(super) use snapshot::{AppProcesses, ProcessSnapshot};
pub(super) use termination::terminate;
