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
use super::process::{AppProcesses, ProcessScanner, ProcessSnapshot, terminate};
use super::settings::LocalSettings;
use super::workload::{LocalBackend, Processes, Workload, inherited};
use crate::byte_stream::{ByteStream, written_by};
use crate::machine::{
    DataDir, DataDirError, Gateway, MachineFleet, MachineFleetError, Registry, Shared, remove_directory,
};
use crate::port::{Archives, FleetError, ReadError, validate_volume};
use crate::source_check::SourceChecker;

/// Runs Workshops as processes on this machine. Cheap to clone. A data directory has at most one open fleet.
///
/// When the last clone is dropped, the apps keep running, and the next [`LocalFleet::open`] adopts them. To terminate
/// the apps before the program exits, call [`LocalFleet::stop`].
#[derive(Debug, Clone)]
pub struct LocalFleet(Arc<Registry<LocalBackend>>);

impl LocalFleet {
    /// Opens the fleet of a data directory and takes over its Workshops: see "Crash recovery" in ARCHITECTURE.md. An app whose
    /// port another program has taken starts again on a new port. The fleet does not touch processes of another copy of the
    /// data directory.
    ///
    /// `stop` closes the connections of [`LocalFleet::gateway`]. Call this function within a tokio runtime.
    ///
    /// # Errors
    /// [`MachineFleetError`] if another launcher uses the directory, or the directory is unusable.
    pub fn open(settings: LocalSettings, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, MachineFleetError> {
        let LocalSettings { machine: settings, programs, keeper, material_timeout } = settings.absolute()?;
        let (data_dir, records) = DataDir::open(&settings.data_dir, clock, |record| record.process = None)?;
        // Take the snapshot before this launcher starts a process: it lists only processes of earlier launchers.
        let snapshot = ProcessSnapshot::take(&data_dir.id);
        let (ports, scanner) = (PortPool::of_this_machine(), ProcessScanner::new(data_dir.id.clone()));
        let registry = Registry::new(Shared {
            source_checks: SourceChecker::of_all_servers(
                settings.material.clone(),
                settings.data_dir.clone(),
                inherited(std::env::vars_os()),
            ),
            settings,
            data_dir,
            stop,
            fleet: Processes { programs, keeper, material_timeout, ports, scanner },
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
    type Backend = LocalBackend;

    fn registry(&self) -> &Arc<Registry<LocalBackend>> {
        &self.0
    }

    async fn remove_volume(&self, name: &str) -> Result<(), FleetError> {
        let path = self.0.shared.data_dir.layout.volume(name);
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
        let root = self.0.shared.data_dir.layout.volume(volume);
        Ok(written_by(move |out| write_archive(&root, out)))
    }

    fn can_restore(&self, _: &WorkshopSpec) -> bool {
        self.0.shared.settings.saved_files.is_some()
    }

    /// Reads the working directory of the app. No other program is involved, so no token is needed.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let workload = self.0.readable(workshop)?;
        let root = self.0.shared.data_dir.layout.working(workload.name());
        Ok(written_by(move |out| write_archive(&root, out)))
    }
}

/// Takes over one Workshop: adopts its running app, or lets its supervisor start the app again.
fn restore(
    registry: &Arc<Registry<LocalBackend>>,
    workload: &Arc<Workload>,
    snapshot: &ProcessSnapshot,
) -> Result<(), DataDirError> {
    let record = workload.record.get();
    let phase = record.status().phase;
    let started = record.process.as_ref().filter(|started| started.leader.is_alive());
    tracing::info!(workshop = workload.name(), adopted = started.is_some(), ?phase, "restoring Workshop");
    let is_ready = match started {
        // No leading process runs, but its descendants may. The record keeps their process group, and the
        // supervisor terminates them before it starts the app.
        None => Some(false),
        Some(started) if phase == Phase::Running => {
            let path = Path::new("/proc/net/tcp");
            let listener = find_listener_in(snapshot, &workload.processes(), started.port);
            Some(DataDirError::at(path, listener)? == Listener::Own)
        }
        Some(_) => None,
    };
    if let Some(is_ready) = is_ready {
        let adopted = workload.record.adopt(is_ready, &workload.settings().origins, workload.now());
        DataDirError::at(&workload.data_dir().layout.state(workload.name()), adopted.map_err(io::Error::other))?;
    }
    if is_ready == Some(true) && record.final_status.is_none() && !record.is_ending() {
        workload.open();
    }
    registry.supervise(workload);
    Ok(())
}

/// Terminates the processes of this fleet whose marker belongs to no Workshop.
fn terminate_orphans(registry: &Registry<LocalBackend>, snapshot: &ProcessSnapshot, accounted: Vec<String>) {
    let orphans = snapshot.markers().into_iter().filter(|held| !accounted.contains(held));
    for marker in orphans {
        tracing::warn!(marker, "terminating orphaned processes");
        let shared = Arc::clone(&registry.shared);
        let orphans = AppProcesses { marker, leader: None };
        registry.tasks.spawn(async move {
            terminate(&shared.fleet.scanner, &orphans, shared.settings.stop_grace).await;
        });
    }
}
