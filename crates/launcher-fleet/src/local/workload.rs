//! The workload of one Workshop: the processes of its app, for its supervisor; and the data that all Workshops of an open fleet
//! share.

mod command;
mod material;
mod proxy;
mod readiness;
mod restore;
mod start;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::sync::lock;
use launcher_domain::{FailureCode, FailureDetail, FailureReason, FailureRemedy, ListensElsewhere, MaterialReport};
use launcher_workshop::{Phase, WorkshopMaterial, WorkshopRestore, WorkshopSpec};

use super::ports::{Listener, PortLease, PortPool, find_listener, listens_elsewhere};
use super::process::{AppProcesses, ExitWatch, PersistentProcessId, ProcessScanner, terminate};
use super::records::{Record, Started, StoredRecord, cap_log, log_tail};
use super::settings::LocalPrograms;
use crate::machine::{self, Attempt, Backend, Look, NotPlaced, Setback, Shared, SidecarConnector};
pub(super) use command::inherited;
use proxy::AppProxy;

/// Maximum number of ports that the fleet tries if other programs take them.
const PORT_ATTEMPTS: usize = 3;

pub(super) type Workload = machine::Workload<LocalBackend>;

/// The part of a workload that only this kind of fleet has.
pub(crate) struct LocalBackend {
    /// The port of the app. It stays reserved while any process of the app may run.
    port: Mutex<Option<PortLease>>,
    /// Detects the exit of the app's leading process; `None` while no app runs.
    exit: tokio::sync::Mutex<Option<ExitWatch>>,
    /// Number of ports that other programs took from this app since its last crash.
    lost_ports: AtomicUsize,
    /// True if the app has to start again, because another program has its port.
    has_lost_port: AtomicBool,
}

/// What all Workshops of an open local fleet share.
pub(crate) struct Processes {
    pub(super) programs: LocalPrograms,
    pub(super) keeper: PathBuf,
    pub(super) material_timeout: Duration,
    pub(super) ports: PortPool,
    pub(super) scanner: ProcessScanner,
}

impl Workload {
    /// Returns the marker in the environment of this Workshop's processes. It contains the uid, because a later
    /// Workshop may have the same name.
    fn marker_of(&self, record: &Record) -> String {
        let uid = record.workshop.metadata.uid.as_deref().unwrap_or_default();
        format!("{}/{}/{uid}", self.data_dir().id, self.name())
    }

    /// Returns the marker and the group leader, which identify the processes of the app.
    pub(super) fn processes(&self) -> AppProcesses {
        let record = self.record.get();
        let leader = record.process.as_ref().and_then(|started| started.leader.of_this_boot());
        AppProcesses { marker: self.marker_of(&record), leader }
    }

    /// Returns the working directory of the app: the directory of its volume, or else one that ends with the Workshop.
    fn working_dir(&self, spec: &WorkshopSpec) -> PathBuf {
        let layout = &self.data_dir().layout;
        match &spec.storage {
            Some(storage) => layout.volume(&storage.volume),
            None => layout.working(self.name()),
        }
    }

    /// Determines whether the app or another program listens on the app's port.
    async fn find_listener(&self, port: u16) -> io::Result<Listener> {
        find_listener(&self.fleet().scanner, self.processes(), port).await
    }

    async fn terminate(&self) {
        terminate(&self.fleet().scanner, &self.processes(), self.settings().stop_grace).await;
    }

    /// Returns the setback of an app whose port another program has taken: the app starts again on another port.
    fn lost_port(&self, port: u16) -> Setback {
        self.backend.has_lost_port.store(true, Ordering::Relaxed);
        if self.backend.lost_ports.fetch_add(1, Ordering::Relaxed) + 1 >= PORT_ATTEMPTS {
            let taken = FailureDetail::PortsTaken { attempts: PORT_ATTEMPTS.to_string() };
            let reason = FailureReason::only(FailureCode::Unschedulable, &taken);
            return Setback::Failed(reason.with_remedy(&FailureRemedy::CheckProgramUser));
        }
        tracing::warn!(
            workshop = self.name(),
            port,
            "another program listens on the app's port, restarting the app on another port"
        );
        Setback::Again
    }

    /// Returns the setback of an app that this machine could not start. `problem` is an English clause.
    fn not_started(&self, problem: &str, error: &io::Error) -> Setback {
        tracing::error!(workshop = self.name(), %error, problem, "starting Workshop failed");
        Setback::Failed(FailureReason::not_started(problem, error.to_string()))
    }
}

impl Backend for LocalBackend {
    type Process = Started;
    type Fleet = Processes;
    type Exit = FailureDetail;
    const OUTLIVES_LAUNCHER: bool = false;

    /// Adopts the app of an earlier launcher, if it still runs.
    fn new(shared: &Arc<Shared<Self>>, record: &StoredRecord) -> Self {
        let started = record.get().process;
        // Processes of an earlier launcher may still use this port: reserve it.
        let port = started.as_ref().and_then(|started| shared.fleet.ports.reserve(started.port));
        let running = started.map(|started| started.leader).filter(PersistentProcessId::is_alive);
        Self {
            port: Mutex::new(port),
            exit: tokio::sync::Mutex::new(running.map(ExitWatch::Adopted)),
            lost_ports: AtomicUsize::new(0),
            has_lost_port: AtomicBool::new(false),
        }
    }

    async fn look(workload: &Arc<Workload>) -> Result<Look, Setback> {
        let has_port = !workload.backend.has_lost_port.load(Ordering::Relaxed);
        let runs = has_port && workload.backend.exit.lock().await.is_some();
        Ok(if runs { Look::Running } else { Look::Absent })
    }

    /// Terminates what an earlier start has left. Descendants of the leading process may run without it.
    async fn prepare(workload: &Arc<Workload>, _: Attempt) -> Result<(), Setback> {
        Self::stop(workload).await;
        Ok(())
    }

    async fn place_files(workload: &Arc<Workload>, restore: &WorkshopRestore) -> Result<(), NotPlaced> {
        Ok(restore::place(workload, restore).await?)
    }

    async fn load_material(workload: &Arc<Workload>, material: &WorkshopMaterial) -> Result<MaterialReport, Setback> {
        let report = material::load(workload, material).await;
        // Processes of the program may still run.
        workload.terminate().await;
        Ok(report)
    }

    async fn launch(workload: &Arc<Workload>, _: Attempt) -> Result<(), Setback> {
        let exit = start::start_app(workload).await?;
        workload.backend.has_lost_port.store(false, Ordering::Relaxed);
        *workload.backend.exit.lock().await = Some(exit);
        Ok(())
    }

    async fn answered(workload: &Arc<Workload>) -> Result<(), Setback> {
        readiness::wait_for_app(workload).await
    }

    async fn listens_elsewhere(workload: &Arc<Workload>) -> Option<Option<ListensElsewhere>> {
        let port = workload.record.get().process?.port;
        let found = listens_elsewhere(&workload.fleet().scanner, workload.processes(), port).await;
        let log =
            |error: &io::Error| tracing::debug!(workshop = workload.name(), %error, "reading listening sockets failed");
        Some(found.inspect_err(log).ok().flatten())
    }

    fn connector(workload: &Arc<Workload>) -> Option<Arc<dyn SidecarConnector>> {
        let record = workload.record.get();
        let owner = record.workshop.spec.owner_email()?;
        Some(Arc::new(AppProxy::new(workload, owner, &record.process?)))
    }

    async fn ended(workload: &Arc<Workload>) -> FailureDetail {
        match &mut *workload.backend.exit.lock().await {
            Some(exit) => exit.wait_for_exit().await,
            None => std::future::pending().await,
        }
    }

    /// If another program now listens on the app's port, the port was taken. The app's message and exit status are not used,
    /// because they differ between apps.
    async fn explain(workload: &Arc<Workload>, exit: FailureDetail) -> Setback {
        *workload.backend.exit.lock().await = None;
        let record = workload.record.get();
        if let Some(Started { port, .. }) = record.process
            && record.status().phase != Phase::Running
            && matches!(workload.find_listener(port).await, Ok(Listener::Foreign))
        {
            return workload.lost_port(port);
        }
        // Its other processes end with it, also if the crash cannot be stored now.
        workload.terminate().await;
        workload.backend.lost_ports.store(0, Ordering::Relaxed);
        Setback::Crashed(FailureReason::new(FailureCode::Crashed, Some(exit)))
    }

    async fn tick(workload: &Arc<Workload>) {
        if let Err(error) = cap_log(&workload.data_dir().layout.log(workload.name()))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(workshop = workload.name(), %error, "truncating the app's log failed");
        }
    }

    async fn log_tail(workload: &Arc<Workload>) -> Option<String> {
        log_tail(&workload.data_dir().layout.log(workload.name()))
    }

    async fn stop(workload: &Arc<Workload>) {
        // A start may be in progress: wait until its process is recorded.
        workload.record.wait_for_update().await;
        workload.terminate().await;
        // After the last process of the app has exited.
        *lock(&workload.backend.port) = None;
        *workload.backend.exit.lock().await = None;
    }
}
