//! The adapter of [`Fleet`](crate::Fleet) for one machine, with the archives of files. Its opening adopts the Workshops of
//! an earlier launcher.

use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use launcher_domain::{ArchiveToken, Clock};
use launcher_process::stop::Stop;
use launcher_sidecar::archive::write_archive;
use launcher_workshop::{Phase, WorkshopSpec};
use tokio::task::spawn_blocking;

use super::ports::{Listener, PortPool, find_listener_in};
use super::process::{AppProcesses, ExitWatch, ProcessScanner, ProcessSnapshot, terminate};
use super::settings::{LocalFleetError, LocalSettings};
use super::workload::{Context, Supervisor, Workload, inherited};
use crate::byte_stream::{ByteStream, written_by};
use crate::machine::{
    DataDir, DataDirError, Gateway, MachineFleet, Registry, SourceChecker, Supervised, remove_directory,
    validate_volume,
};
use crate::port::{Archives, FleetError, ReadError};

/// Runs Workshops as processes on this machine. Cheap to clone. A data directory has at most one open fleet.
///
/// When the last clone is dropped, the apps keep running, and the next [`LocalFleet::open`] adopts them. To terminate
/// the apps before the program exits, call [`LocalFleet::stop`].
#[derive(Debug, Clone)]
pub struct LocalFleet(Arc<Registry<Workload>>);

impl LocalFleet {
    /// Opens the fleet of a data directory and takes over its Workshops:
    ///
    /// - Apps that still run keep running. If another program has taken an app's port, the app restarts on a new port.
    /// - An app that should run, but has exited, restarts in the same directory. It may have exited because of a reboot,
    ///   a stop of the launcher, or a crash while no launcher ran.
    /// - The fleet terminates expired Workshops and continues deletions.
    /// - The fleet terminates its processes that belong to no Workshop. It does not touch processes of another copy of
    ///   the data directory.
    ///
    /// `stop` closes the connections of [`LocalFleet::gateway`]. Call this function within a tokio runtime.
    ///
    /// # Errors
    /// [`LocalFleetError`] if another launcher uses the directory, or the directory is unusable.
    pub fn open(settings: LocalSettings, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let (data_dir, records) = DataDir::open(&settings.data_dir, clock, |record| record.process = None)?;
        // Take the snapshot before this launcher starts a process: it lists only processes of earlier launchers.
        let snapshot = ProcessSnapshot::take(&data_dir.id);
        let source_checks = SourceChecker::new(settings.material.clone(), settings.data_dir.clone(), true);
        let source_checks = source_checks.map(|checker| checker.with_environment(inherited(std::env::vars_os())));
        let registry = Registry::<Workload>::new(Context {
            source_checks,
            settings,
            scanner: ProcessScanner::new(data_dir.id.clone()),
            data_dir,
            ports: PortPool::of_this_machine(),
            stop,
        });
        // Create all workloads before any app starts: this reserves the ports of all workloads.
        let workloads = records.into_iter().map(|(name, record)| registry.create_workload(name, record));
        let workloads: Vec<_> = workloads.collect();
        let markers = workloads.iter().map(|workload| workload.processes().marker).collect();
        for workload in workloads {
            restore(&registry, &workload, &snapshot)?;
        }
        terminate_orphans(&registry, &snapshot, markers);
        Ok(Self(registry))
    }

    /// Returns the gateway, which serves the workshops' origins.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.0.clone())
    }

    /// Stops the fleet: terminates the processes of all Workshops concurrently. The Workshops stay stored, and the next
    /// [`LocalFleet::open`] restarts them in the same directories. Streams of [`Fleet::watch`](crate::Fleet::watch) end,
    /// and the fleet refuses further changes. Returns after the slowest process has exited: at most a little after `stop_grace`.
    pub async fn stop(&self) {
        self.0.stop().await;
    }
}

impl MachineFleet for LocalFleet {
    type Workload = Workload;

    fn registry(&self) -> &Arc<Registry<Workload>> {
        &self.0
    }

    fn source_checks(&self) -> Option<&SourceChecker> {
        self.0.context.source_checks.as_ref()
    }

    async fn remove_volume(&self, name: &str) -> Result<(), FleetError> {
        let path = self.0.context.data_dir.layout.volume(name);
        let removal = spawn_blocking(move || remove_directory(&path)).await;
        let removed = removal.unwrap_or_else(|error| Err(io::Error::other(error)));
        removed
            .map_err(|error| FleetError::Unavailable(format!("the directory of the volume cannot be removed: {error}")))
    }
}

#[async_trait]
impl Archives for LocalFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        validate_volume(volume)?;
        let root = self.0.context.data_dir.layout.volume(volume);
        Ok(written_by(move |out| write_archive(&root, out)))
    }

    fn can_read_app(&self, spec: &WorkshopSpec) -> bool {
        spec.storage.is_none()
    }

    fn can_restore(&self, _: &WorkshopSpec) -> bool {
        self.0.context.settings.saved_files.is_some()
    }

    /// Reads the working directory of the app. No other program is involved, so no token is needed.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let workload = self.0.readable(workshop)?;
        let root = self.0.context.data_dir.layout.working(workload.name());
        Ok(written_by(move |out| write_archive(&root, out)))
    }
}

/// Takes over one Workshop: adopts its running app, or starts its supervisor to restart the app.
fn restore(
    registry: &Arc<Registry<Workload>>,
    workload: &Arc<Workload>,
    snapshot: &ProcessSnapshot,
) -> Result<(), DataDirError> {
    let (layout, origins) = (&registry.context.data_dir.layout, &registry.context.settings.origins);
    let now = registry.context.data_dir.clock.now();
    let (phase, started) = (workload.record().phase(), workload.record().get().process);
    let adopted = started.as_ref().and_then(|started| ExitWatch::adopt(&started.leader));
    let state = layout.state(workload.name());
    match started.filter(|_| adopted.is_some()) {
        // No leading process runs, but its descendants may. The record keeps their process group, and the
        // supervisor terminates them before it starts the app.
        None => DataDirError::at(&state, workload.record().adopt(false, origins, now).map_err(io::Error::other))?,
        Some(started) if phase == Phase::Running => {
            let path = Path::new("/proc/net/tcp");
            let is_ours = DataDirError::at(path, find_listener_in(snapshot, &workload.processes(), started.port))?
                == Listener::Own;
            DataDirError::at(&state, workload.record().adopt(is_ours, origins, now).map_err(io::Error::other))?;
            if is_ours {
                workload.attach_proxy(&started);
            }
        }
        Some(_) => {}
    }
    tracing::info!(workshop = workload.name(), adopted = adopted.is_some(), ?phase, "restoring Workshop");
    let supervisor = Supervisor::new(Arc::clone(workload), adopted);
    registry.supervise_by(workload, supervisor.run());
    Ok(())
}

/// Terminates the processes of this fleet whose marker belongs to no Workshop.
fn terminate_orphans(registry: &Registry<Workload>, snapshot: &ProcessSnapshot, accounted: Vec<String>) {
    let orphans = snapshot.markers().into_iter().filter(|held| !accounted.contains(held));
    for marker in orphans {
        tracing::warn!(marker, "terminating orphaned processes");
        let context = Arc::clone(&registry.context);
        let orphans = AppProcesses { marker, leader: None };
        registry.tasks.spawn(async move {
            terminate(&context.scanner, &orphans, context.settings.stop_grace).await;
        });
    }
}
