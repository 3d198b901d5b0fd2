//! The workload of one Workshop, as the registry, the gateway and its supervisor share it, and its desired state.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use launcher_domain::Report;
use launcher_domain::sync::lock;
use launcher_process::stop::Stop;
use launcher_workshop::lifecycle::{Decision, Observed};
use tokio::sync::watch;

use super::backend::Backend;
use super::data_dir::DataDir;
use super::gateway::SidecarConnector;
use super::record::StoredRecord;
use super::settings::MachineSettings;
use crate::source_check::SourceChecker;

/// Data that all workloads of an open fleet share.
pub(crate) struct Shared<B: Backend> {
    pub(crate) settings: MachineSettings,
    /// The open data directory. Everything that was started from it is marked with its identifier.
    pub(crate) data_dir: DataDir,
    /// The stop that closes the connections of the gateway.
    pub(crate) stop: Stop,
    /// The checks of course material; `None` without the program.
    pub(crate) source_checks: Option<SourceChecker>,
    pub(crate) fleet: B::Fleet,
}

/// The workload of one Workshop, shared by its supervisor, the registry and the gateway.
pub(crate) struct Workload<B: Backend> {
    pub(crate) shared: Arc<Shared<B>>,
    pub(crate) record: Arc<StoredRecord<B::Process>>,
    pub(crate) desired_state: watch::Sender<DesiredState>,
    /// The way to the sidecar, while the owner has access to the app.
    connector: Mutex<Option<Arc<dyn SidecarConnector>>>,
    pub(crate) backend: B,
}

impl<B: Backend> Workload<B> {
    pub(crate) fn new(shared: Arc<Shared<B>>, record: Arc<StoredRecord<B::Process>>) -> Self {
        let is_deleted = record.workshop().metadata.deletion_timestamp.is_some();
        let desired = if is_deleted { DesiredState::Deleted } else { DesiredState::Running };
        let backend = B::new(&shared, &record);
        Self { shared, record, desired_state: watch::Sender::new(desired), connector: Mutex::default(), backend }
    }

    /// Changes the desired state, only forward: a stop of the fleet must not replace a deletion.
    pub(crate) fn advance(&self, state: DesiredState) {
        self.desired_state.send_if_modified(|current| {
            let is_further = state > *current;
            *current = (*current).max(state);
            is_further
        });
    }

    pub(crate) fn name(&self) -> &str {
        self.record.name()
    }

    pub(crate) fn fleet(&self) -> &B::Fleet {
        &self.shared.fleet
    }

    pub(crate) fn settings(&self) -> &MachineSettings {
        &self.shared.settings
    }

    pub(crate) fn data_dir(&self) -> &DataDir {
        &self.shared.data_dir
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.data_dir.clock.now()
    }

    pub(crate) fn urls(&self) -> Report {
        self.settings().origins.urls(self.name())
    }

    /// Decides what follows from an observation, and stores the next status, unless it ends the workshop.
    pub(crate) async fn observe(&self, observed: impl Into<Observed>) -> Decision {
        self.record.observe(observed, self.now()).await
    }

    /// Gives the owner access to the app.
    pub(crate) fn open(self: &Arc<Self>) {
        *lock(&self.connector) = B::connector(self);
    }

    /// Takes the owner's access away. Call this before the app ends: another program could listen in its place afterwards.
    pub(crate) fn close(&self) {
        *lock(&self.connector) = None;
    }

    /// Returns the connector to the sidecar, or `None` while the owner has no access.
    pub(crate) fn connector(&self) -> Option<Arc<dyn SidecarConnector>> {
        lock(&self.connector).clone()
    }
}

/// Desired state of a Workshop. It only changes forward, in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DesiredState {
    Running,
    /// No task supervises the app any more. The Workshop stays stored for the next launcher.
    Stopped,
    /// The Workshop is deleted with its workload and its files.
    Deleted,
}
