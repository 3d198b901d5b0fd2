//! The workload of one Workshop, as the registry sees it, and its desired state.

use std::fmt::Debug;
use std::sync::Arc;

use launcher_process::stop::Stop;
use tokio::sync::watch;

use super::data_dir::DataDir;
use super::gateway::SidecarConnector;
use super::origins::OriginSettings;
use super::record::{Process, StoredRecord};

/// Data that all workloads of an open fleet share.
pub(crate) trait Context: Debug + Send + Sync + 'static {
    /// Returns the open data directory.
    fn data_dir(&self) -> &DataDir;

    fn origins(&self) -> &OriginSettings;

    /// Returns the stop that closes the connections of the gateway.
    fn stop(&self) -> &Stop;
}

/// The workload of one Workshop: its record, its desired state, and the task that supervises it.
pub(crate) trait Supervised: Debug + Send + Sync + Sized + 'static {
    /// Describes the workload's process in its stored record.
    type Process: Process;
    /// Data that all workloads of the fleet share.
    type Context: Context;

    /// Creates the workload of a Workshop. `desired_state` is `Deleted` if its record has a deletion timestamp.
    fn new(
        context: Arc<Self::Context>,
        record: Arc<StoredRecord<Self::Process>>,
        desired_state: DesiredStateCell,
    ) -> Self;

    /// Returns the stored record.
    fn record(&self) -> &Arc<StoredRecord<Self::Process>>;

    /// Returns the desired state.
    fn desired_state(&self) -> &DesiredStateCell;

    /// Returns the connector to the sidecar, or `None` while the app is not ready.
    fn connector(&self) -> Option<Box<dyn SidecarConnector>>;

    /// Runs the workload until its desired state is `Stopped` or `Deleted`, and returns what remains of it.
    fn supervise(self: Arc<Self>) -> impl Future<Output = Remainder> + Send;

    fn name(&self) -> &str {
        self.record().name()
    }
}

/// The part of a Workshop that remains stored when its supervisor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remainder {
    /// The record, or a part of its state directory. The next launcher takes over the record, or removes the rest.
    Record,
    /// Nothing: the Workshop is deleted.
    Nothing,
}

impl Remainder {
    pub(crate) fn is_gone(self) -> bool {
        self == Self::Nothing
    }
}

/// Desired state of a Workshop. It only changes forward, in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DesiredState {
    /// The app runs.
    Running,
    /// The app is terminated. The Workshop stays stored for the next launcher.
    Stopped,
    /// The Workshop is deleted with its processes and its files.
    Deleted,
}

/// Holds the desired state of one Workshop, and notifies its supervisor of changes.
#[derive(Debug)]
pub(crate) struct DesiredStateCell(watch::Sender<DesiredState>);

impl DesiredStateCell {
    pub(crate) fn new(initial: DesiredState) -> Self {
        Self(watch::Sender::new(initial))
    }

    pub(crate) fn set(&self, desired_state: DesiredState) {
        // The state only changes forward: a stop of the fleet must not replace a deletion.
        self.0.send_if_modified(|current| {
            let further = desired_state > *current;
            *current = (*current).max(desired_state);
            further
        });
    }

    pub(crate) fn get(&self) -> DesiredState {
        *self.0.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<DesiredState> {
        self.0.subscribe()
    }
}
