//! What the supervisor needs from a kind of fleet: processes or containers.

use std::sync::Arc;

use launcher_domain::{FailureReason, ListensElsewhere, MaterialReport};
use launcher_workshop::{WorkshopMaterial, WorkshopRestore};

use super::gateway::SidecarConnector;
use super::record::{Process, StoredRecord};
use super::workload::{Shared, Workload};
use crate::restore::RestoreError;

/// The part of one workload that only its kind of fleet has. [`supervise`](super::supervise) decides when a function is called,
/// in the order of this list. It drops a call when the workshop ends meanwhile, so each function can be called again.
pub(crate) trait Backend: Send + Sync + Sized + 'static {
    /// Describes the process of the app in its stored record.
    type Process: Process;
    /// Data of this kind that all workloads of the fleet share.
    type Fleet: Send + Sync + 'static;
    type Exit: Send;
    /// True if the app keeps running after the launcher has stopped.
    const OUTLIVES_LAUNCHER: bool;

    fn new(shared: &Arc<Shared<Self>>, record: &StoredRecord<Self::Process>) -> Self;

    /// Looks for the app that this or an earlier launcher has started.
    fn look(workload: &Arc<Workload<Self>>) -> impl Future<Output = Result<Look, Setback>> + Send;

    /// Prepares a start of the app: its room, its images, its sidecar.
    fn prepare(workload: &Arc<Workload<Self>>, attempt: Attempt) -> impl Future<Output = Result<(), Setback>> + Send;

    /// Makes one attempt to place the saved files. No app has been in the directory yet; an earlier attempt may have.
    fn place_files(
        workload: &Arc<Workload<Self>>,
        restore: &WorkshopRestore,
    ) -> impl Future<Output = Result<(), NotPlaced>> + Send;

    /// Loads the course material, and returns the report.
    ///
    /// # Errors
    /// Only a cause for which the app cannot start either: material that does not load never prevents the start.
    fn load_material(
        workload: &Arc<Workload<Self>>,
        material: &WorkshopMaterial,
    ) -> impl Future<Output = Result<MaterialReport, Setback>> + Send;

    fn launch(workload: &Arc<Workload<Self>>, attempt: Attempt) -> impl Future<Output = Result<(), Setback>> + Send;

    fn answered(workload: &Arc<Workload<Self>>) -> impl Future<Output = Result<(), Setback>> + Send;

    /// Returns the addresses on which the app listens, unless it listens on its port. `None` if they cannot be read now.
    fn listens_elsewhere(
        workload: &Arc<Workload<Self>>,
    ) -> impl Future<Output = Option<Option<ListensElsewhere>>> + Send;

    /// Returns the way to the sidecar of an app that answers.
    fn connector(workload: &Arc<Workload<Self>>) -> Option<Arc<dyn SidecarConnector>>;

    /// Waits until the app does not run any more. Changes nothing: the supervisor may call it again instead of using the result.
    fn ended(workload: &Arc<Workload<Self>>) -> impl Future<Output = Self::Exit> + Send;

    /// Explains the end of the app, and ends what is left of it. The owner has no access any more.
    fn explain(workload: &Arc<Workload<Self>>, exit: Self::Exit) -> impl Future<Output = Setback> + Send;

    /// Keeps files of the workload up to date. Called a few times a second.
    fn tick(workload: &Arc<Workload<Self>>) -> impl Future<Output = ()> + Send;

    /// Returns the last lines of the app's output; `None` if there are none.
    fn log_tail(workload: &Arc<Workload<Self>>) -> impl Future<Output = Option<String>> + Send;

    /// Stops the app within the grace period, and removes the workload, but not the working directory. Waits for a start in
    /// progress first, and tries again until it is done.
    fn stop(workload: &Arc<Workload<Self>>) -> impl Future<Output = ()> + Send;
}

/// The app, as the fleet finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It was not started, or its process is gone.
    Absent,
    /// The machine or the engine has ended it. It can be started again in its container.
    Interrupted,
    Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// With a new workload.
    New,
    /// In its container, which has the owner's files.
    Again,
}

/// Reason why an app does not run.
#[derive(Debug, PartialEq)]
pub(crate) enum Setback {
    /// The app has ended alone. Its files are there.
    Crashed(FailureReason),
    /// The workshop cannot continue.
    Failed(FailureReason),
    /// The app is to be started again, although it did nothing wrong.
    Again,
    /// A call that is needed for the app failed for this cause, and may succeed later.
    Retry(String),
}

/// Error of one attempt to place saved files.
pub(crate) enum NotPlaced {
    /// The files or their place.
    Files(RestoreError),
    Setback(Setback),
}

impl From<RestoreError> for NotPlaced {
    fn from(error: RestoreError) -> Self {
        Self::Files(error)
    }
}
