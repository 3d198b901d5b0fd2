//! Locks a data directory, opens its local fleet, and adopts the Workshops of an earlier launcher.

use std::io;
use std::path::Path;
use std::sync::Arc;

use launcher_domain::Clock;
use launcher_process::stop::Stop;
use launcher_workshop::Phase;

use super::fleet::LocalFleet;
use super::ports::{Listener, PortPool, find_listener_in};
use super::process::{AppProcesses, ExitWatch, ProcessScanner, ProcessSnapshot, terminate};
use super::settings::{LocalFleetError, LocalSettings};
use super::workload::{Context, Supervisor, Workload};
use crate::machine::{DataDir, DataDirError, Registry, Supervised};

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
        let registry = Registry::<Workload>::new(Context {
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
}

/// Takes over one Workshop: adopts its running app, or starts its supervisor to restart the app.
fn restore(
    registry: &Arc<Registry<Workload>>,
    workload: &Arc<Workload>,
    snapshot: &ProcessSnapshot,
) -> Result<(), DataDirError> {
    let (layout, origins) = (&registry.context.data_dir.layout, &registry.context.settings.origins);
    let (phase, started) = (workload.record().phase(), workload.record().get().process);
    let adopted = started.as_ref().and_then(|started| ExitWatch::adopt(&started.leader));
    let state = layout.state(workload.name());
    match started.filter(|_| adopted.is_some()) {
        // No leading process runs, but its descendants may. The record keeps their process group, and the
        // supervisor terminates them before it starts the app.
        None => DataDirError::at(&state, workload.record().adopt(false, origins).map_err(io::Error::other))?,
        Some(started) if phase == Phase::Running => {
            let path = Path::new("/proc/net/tcp");
            let is_ours = DataDirError::at(path, find_listener_in(snapshot, &workload.processes(), started.port))?
                == Listener::Own;
            DataDirError::at(&state, workload.record().adopt(is_ours, origins).map_err(io::Error::other))?;
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
