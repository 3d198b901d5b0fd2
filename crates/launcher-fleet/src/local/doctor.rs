//! For `launcher doctor`: examines this machine and a data directory without changing them.

use launcher_domain::AppType;
use launcher_domain::clock::SystemEntropy;

use super::ports::PortPool;
use super::settings::{LocalFleetError, LocalSettings};
use super::workload::{ProgramFault, check_program};
use crate::machine::{Layout, is_in_use, stored_identity};

/// The examined local fleet.
#[derive(Debug)]
pub struct LocalExamination {
    settings: LocalSettings,
    layout: Layout,
}

impl LocalExamination {
    /// Examines the fleet that [`LocalFleet::open`](super::LocalFleet::open) would open with these settings.
    ///
    /// # Errors
    /// [`LocalFleetError`] if `LocalFleet::open` would refuse a setting.
    pub fn new(settings: LocalSettings) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.data_dir);
        Ok(Self { settings, layout })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    ///
    /// # Errors
    /// [`LocalFleetError::DataDir`] if the identity file cannot be read.
    pub fn identity(&self) -> Result<Option<String>, LocalFleetError> {
        Ok(stored_identity(&self.layout)?)
    }

    /// True if a launcher is using the data directory.
    ///
    /// # Errors
    /// [`LocalFleetError::DataDir`] if the lock file cannot be opened or locked.
    pub fn is_in_use(&self) -> Result<bool, LocalFleetError> {
        Ok(is_in_use(&self.layout)?)
    }

    /// A port that the next workshop could get; `None` if all are taken.
    #[must_use]
    pub fn free_port(&self) -> Option<u16> {
        Some(PortPool::of_this_machine().allocate(&SystemEntropy)?.port())
    }

    /// Runs the program of this app type with its version argument, and returns the output. `None` for `custom`,
    /// because each template of that type names a program.
    ///
    /// # Errors
    /// [`ProgramFault`] if the program is missing or fails.
    pub async fn version(&self, app: AppType) -> Result<Option<String>, ProgramFault> {
        check_program(&self.settings, app).await
    }
}
