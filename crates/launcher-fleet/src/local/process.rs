//! Processes of the apps: their identity, their keeper, and their termination.

pub mod keeper;
mod keeper_handle;
mod process_id;
mod snapshot;
mod termination;

pub(super) use keeper_handle::{AppStart, ExitWatch, KeeperHandle, StartError};
pub(super) use process_id::{MARKER, PersistentProcessId, ProcessId};
pub(super) use snapshot::{AppProcesses, ProcessScanner, ProcessSnapshot};
pub(super) use termination::terminate;
