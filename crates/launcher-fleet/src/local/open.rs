//! Opens a fleet exclusively, and adopts the Workshops of an earlier launcher.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use launcher_domain::{Clock, StartStep};
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, WorkshopStatus};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::exit::ExitWatch;
use super::layout::{self, Layout};
use super::listener::{Listener, find_listener_in};
use super::ports::PortPool;
use super::process_snapshot::{ProcessScanner, ProcessSnapshot};
use super::settings::{LocalFleetError, LocalSettings};
use super::state::{self, Record};
use super::watch_cache::WatchCache;
use super::workload::Workload;
use super::{Context, Inner, LocalFleet, data_dir_identity, termination};

/// Number of tries for the lock, and the pause between them.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

impl LocalFleet {
    /// Opens the fleet of a data directory and takes over its Workshops. Processes that still run keep running; an app
    /// whose port another program has taken meanwhile restarts on another port. A Workshop that should run and does
    /// not, because the machine or the launcher stopped or the app crashed without a launcher, restarts in the same
    /// directory. Expiries and deletions that are due are carried out. Processes of this fleet without a Workshop are
    /// terminated. Processes of another copy of the directory are left alone.
    ///
    /// `stop` ends the connections of [`LocalFleet::gateway`]. Call it within a tokio runtime.
    ///
    /// # Errors
    /// [`LocalFleetError`]: another launcher uses the directory, or it is unusable.
    pub fn open(settings: LocalSettings, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.data_dir);
        for directory in [layout.records(), layout.workings()] {
            at(&directory, layout::make_private(&directory))?;
        }
        let lock = take_lock(&layout)?;
        let fleet_id = identity(&layout, &*clock)?;
        let mut records = at(&layout.records(), state::load(&layout))?;
        let data_dir_id = at(
            &layout.data_dir_identity(),
            data_dir_identity::resolve(&layout, &lock, &fleet_id, &mut records, &*clock),
        )?;
        // Taken before this launcher starts any process, so it lists only processes of earlier launchers.
        let snapshot = ProcessSnapshot::take(&data_dir_id);
        let context = Arc::new(Context {
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
        let inner = Arc::new(Inner {
            context,
            workloads: Mutex::new(BTreeMap::new()),
            cache: WatchCache::new(),
            closed: tokio::sync::Mutex::new(false),
            tasks: TaskTracker::new(),
        });
        let workloads = inner.create_workloads(records);
        let markers = workloads.iter().map(|workload| workload.marker()).collect();
        for workload in workloads {
            inner.restore(workload, &snapshot)?;
        }
        inner.terminate_orphans(&snapshot, markers);
        Ok(Self(inner))
    }
}

impl Inner {
    /// Creates the Workshops from their records. All of them hold their ports before the first one starts.
    fn create_workloads(&self, records: Vec<(String, Record)>) -> Vec<Arc<Workload>> {
        let workload = |(name, record)| Workload::new(name, Arc::clone(&self.context), Arc::clone(&self.cache), record);
        records.into_iter().map(workload).map(Arc::new).collect()
    }

    /// Takes over one Workshop.
    fn restore(self: &Arc<Self>, workload: Arc<Workload>, snapshot: &ProcessSnapshot) -> Result<(), LocalFleetError> {
        let (phase, started) = (workload.phase(), workload.record().process);
        let adopted = started.as_ref().and_then(|started| ExitWatch::adopt(&started.leader));
        let state = self.context.layout.state(workload.name());
        match started.filter(|_| adopted.is_some()) {
            // Its descendants may still run: its record has their process group.
            None => at(&state, workload.adopt(false).map_err(io::Error::other))?,
            Some(started) if phase == Phase::Running => {
                let path = Path::new("/proc/net/tcp");
                let is_ours = at(path, find_listener_in(&workload, started.port, snapshot))? == Listener::Own;
                at(&state, workload.adopt(is_ours).map_err(io::Error::other))?;
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
            self.tasks.spawn(async move {
                termination::terminate(&context.scanner, &marker, None, context.settings.stop_grace).await
            });
        }
    }
}

impl Record {
    /// The record while its app does not answer: its lifetime continues, and it has no URL.
    pub(super) fn not_ready(&self) -> Self {
        let mut next = self.clone();
        let status = self.status();
        if matches!(status.phase, Phase::Starting | Phase::Running) {
            next.set_status(WorkshopStatus::starting(StartStep::StartingApp, status.ready_at));
        }
        next
    }
}

fn take_lock(layout: &Layout) -> Result<File, LocalFleetError> {
    let path = layout.lock();
    let file = at(&path, OpenOptions::new().write(true).create(true).truncate(false).open(&path))?;
    for attempt in 1.. {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            // A launcher that was just killed may have left a forked child that has not called exec yet. It holds the
            // lock until then.
            Err(Errno::WOULDBLOCK) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => return Err(LocalFleetError::Locked(path)),
            Err(error) => return at(&path, Err(error.into())),
        }
    }
    Ok(file)
}

/// The fleet's identity: generated once per data directory.
fn identity(layout: &Layout, clock: &dyn Clock) -> Result<String, LocalFleetError> {
    let path = layout.id();
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => at(&path, Err(error)),
        _ => {
            let id = uuid_v7(clock, &SystemEntropy).to_string();
            at(&path, state::replace(&path, id.as_bytes()))?;
            Ok(id)
        }
    }
}

fn at<T>(path: &Path, outcome: io::Result<T>) -> Result<T, LocalFleetError> {
    outcome.map_err(|source| LocalFleetError::Directory { path: path.to_owned(), source })
}
