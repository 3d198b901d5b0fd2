//! The context: data that all Workshops of an open local fleet share.

use launcher_process::stop::Stop;

use crate::local::ports::PortPool;
use crate::local::process::ProcessScanner;
use crate::local::settings::LocalSettings;
use crate::machine::{self, DataDir, OriginSettings};

/// Data that all Workshops of an open local fleet share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: LocalSettings,
    /// The open data directory. Its identifier is the first part of the marker of every process that was started from
    /// it.
    pub(crate) data_dir: DataDir,
    pub(crate) ports: PortPool,
    pub(crate) scanner: ProcessScanner,
    pub(crate) stop: Stop,
}

impl machine::Context for Context {
    fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    fn origins(&self) -> &OriginSettings {
        &self.settings.origins
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}
