//! The context: data that all Workshops of an open local fleet share.

use std::sync::Arc;

use launcher_domain::Clock;
use launcher_process::stop::Stop;
use tokio_util::sync::CancellationToken;

use crate::local::ports::PortPool;
use crate::local::process::ProcessScanner;
use crate::local::records::Layout;
use crate::local::settings::LocalSettings;

/// Data that all Workshops of an open local fleet share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: LocalSettings,
    pub(crate) layout: Layout,
    /// Identity of the fleet. The rows of the database belong to it.
    pub(crate) fleet_id: String,
    /// Identifier of the data directory. It is the first part of the marker of every process that was started from this
    /// directory.
    pub(crate) data_dir_id: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ports: PortPool,
    pub(crate) scanner: ProcessScanner,
    pub(crate) stop: Stop,
    /// Cancelled when the fleet begins to stop.
    pub(crate) closing: CancellationToken,
    /// Lock of the data directory, held while this fleet is open. The kernel releases the lock when the program exits,
    /// even after a crash.
    pub(crate) _lock: std::fs::File,
}
