//! Locks a data directory, opens its local fleet, and adopts the Workshops of an earlier launcher.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use launcher_process::stop::Stop;
use launcher_workshop::Phase;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::fleet::LocalFleet;
use super::ports::{Listener, PortPool, find_listener_in};
use super::process::{AppProcesses, ExitWatch, ProcessScanner, ProcessSnapshot, terminate};
use super::records::{Layout, Record, data_dir_identity, make_private, replace_file, store};
use super::registry::Registry;
use super::settings::{LocalFleetError, LocalSettings};
use super::workload::{Context, Workload};

/// Maximum number of attempts to lock the data directory.
const LOCK_ATTEMPTS: u32 = 20;
/// Pause between two attempts to lock the data directory.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

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
        let layout = Layout::new(&settings.data_dir);
        for directory in [layout.records(), layout.workings()] {
            at(&directory, make_private(&directory))?;
        }
        let lock = take_lock(&layout)?;
        let fleet_id = identity(&layout, &*clock)?;
        let mut records = at(&layout.records(), store::load(&layout))?;
        let data_dir_id = at(
            &layout.data_dir_identity(),
            data_dir_identity::resolve(&layout, &lock, &fleet_id, &mut records, &*clock),
        )?;
        // Take the snapshot before this launcher starts a process: it lists only processes of earlier launchers.
        let snapshot = ProcessSnapshot::take(&data_dir_id);
        let registry = Registry::new(Context {
            settings,
            layout,
            scanner: ProcessScanner::new(data_dir_id.clone()),
            fleet_id,
            data_dir_id,
            clock,
            ports: PortPool::of_this_machine(),
            stop,
            closing: CancellationToken::new(),
            _lock: lock,
        });
        let workloads = registry.create_workloads(records);
        let markers = workloads.iter().map(|workload| workload.processes().marker).collect();
        for workload in workloads {
            registry.restore(workload, &snapshot)?;
        }
        registry.terminate_orphans(&snapshot, markers);
        Ok(Self(registry))
    }
}

impl Registry {
    /// Creates the workloads from their stored records. This reserves the ports of all workloads before any app starts.
    fn create_workloads(&self, records: Vec<(String, Record)>) -> Vec<Arc<Workload>> {
        let workload = |(name, record)| Workload::new(name, Arc::clone(&self.context), Arc::clone(&self.cache), record);
        records.into_iter().map(workload).map(Arc::new).collect()
    }

    /// Takes over one Workshop: adopts its running app, or starts its supervisor to restart the app.
    fn restore(self: &Arc<Self>, workload: Arc<Workload>, snapshot: &ProcessSnapshot) -> Result<(), LocalFleetError> {
        let (phase, started) = (workload.record().phase(), workload.record().get().process);
        let adopted = started.as_ref().and_then(|started| ExitWatch::adopt(&started.leader));
        let state = self.context.layout.state(workload.name());
        match started.filter(|_| adopted.is_some()) {
            // No leading process runs, but its descendants may. The record keeps their process group, and the
            // supervisor terminates them before it starts the app.
            None => at(&state, workload.record().adopt(false).map_err(io::Error::other))?,
            Some(started) if phase == Phase::Running => {
                let path = Path::new("/proc/net/tcp");
                let is_ours =
                    at(path, find_listener_in(snapshot, &workload.processes(), started.port))? == Listener::Own;
                at(&state, workload.record().adopt(is_ours).map_err(io::Error::other))?;
                if is_ours {
                    workload.attach_proxy(&started);
                }
            }
            Some(_) => {}
        }
        tracing::info!(workshop = workload.name(), adopted = adopted.is_some(), ?phase, "restoring Workshop");
        self.supervise(workload, adopted);
        Ok(())
    }

    /// Terminates the processes of this fleet whose marker belongs to no Workshop.
    fn terminate_orphans(&self, snapshot: &ProcessSnapshot, accounted: Vec<String>) {
        let orphans = snapshot.markers().into_iter().filter(|held| !accounted.contains(held));
        for marker in orphans {
            tracing::warn!(marker, "terminating orphaned processes");
            let context = Arc::clone(&self.context);
            let orphans = AppProcesses { marker, leader: None };
            self.tasks.spawn(async move {
                terminate(&context.scanner, &orphans, context.settings.stop_grace).await;
            });
        }
    }
}

fn take_lock(layout: &Layout) -> Result<File, LocalFleetError> {
    let path = layout.lock();
    let file = at(&path, OpenOptions::new().write(true).create(true).truncate(false).open(&path))?;
    for attempt in 1.. {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            // A killed launcher may leave a forked child that has not called exec yet. That child holds the lock until
            // exec: retry.
            Err(Errno::WOULDBLOCK) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => return Err(LocalFleetError::Locked(path)),
            Err(error) => return at(&path, Err(error.into())),
        }
    }
    Ok(file)
}

/// Reads the fleet's identity, or generates it if the data directory has none.
fn identity(layout: &Layout, clock: &dyn Clock) -> Result<String, LocalFleetError> {
    let path = layout.id();
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => at(&path, Err(error)),
        _ => {
            let id = uuid_v7(clock, &SystemEntropy).to_string();
            at(&path, replace_file(&path, id.as_bytes()))?;
            Ok(id)
        }
    }
}

fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T, LocalFleetError> {
    outcome.map_err(|source| LocalFleetError::Directory { path: path.to_owned(), source })
}
