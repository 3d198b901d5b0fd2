//! Opening a fleet: one at a time, taking up what an earlier launcher left.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use launcher_process::stop::Stop;
use launcher_workshop::{Phase, WorkshopStatus};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio_util::task::TaskTracker;

use super::board::Board;
use super::exit::ExitWatch;
use super::layout::{self, Layout};
use super::settings::{LocalFleetError, LocalSettings};
use super::shop::Shop;
use super::state::{self, Record};
use super::{Context, Inner, LocalFleet, ending, process};

/// How often to try for the lock, and how long to wait in between.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

impl LocalFleet {
    /// Opens the fleet of a data directory and takes up the Workshops in it: those whose process still runs go on
    /// undisturbed; those that are to run and do not, because the machine or their launcher stopped (or because they
    /// crashed while no launcher looked), start again in the same directory; those whose time was up meanwhile expire;
    /// those that were to go, go. Processes of this fleet that belong to no Workshop are ended.
    ///
    /// `stop` bounds what [`LocalFleet::gateway`] serves. Call it within a tokio runtime.
    ///
    /// # Errors
    /// [`LocalFleetError`]: another launcher has the directory, or it cannot be used.
    pub fn open(settings: LocalSettings, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, LocalFleetError> {
        let settings = settings.absolute()?;
        let layout = Layout::new(&settings.data_dir);
        for directory in [layout.records(), layout.workings()] {
            at(&directory, layout::make_private(&directory))?;
        }
        let lock = take_lock(&layout)?;
        let fleet_id = identity(&layout, &*clock)?;
        let records = at(&layout.records(), state::load(&layout))?;
        let context = Arc::new(Context { settings, layout, fleet_id, clock, stop, _lock: lock });
        let inner = Arc::new(Inner {
            context,
            shops: Mutex::new(BTreeMap::new()),
            board: Board::new(),
            closed: tokio::sync::Mutex::new(false),
            tasks: TaskTracker::new(),
        });
        let shops = records.into_iter().map(|(name, record)| inner.take_up(name, record)).collect::<Result<_, _>>()?;
        inner.end_strangers(shops);
        Ok(Self(inner))
    }
}

impl Inner {
    /// Takes up one Workshop as it was left; returns the marker of its processes.
    fn take_up(self: &Arc<Self>, name: String, record: Record) -> Result<String, LocalFleetError> {
        let adopted = record.process.as_ref().and_then(|started| ExitWatch::adopt(&started.leader));
        let started = record.process.clone().filter(|_| adopted.is_some());
        let phase = record.status().phase;
        let shop = Arc::new(Shop::new(name, Arc::clone(&self.context), Arc::clone(&self.board), record));
        match started {
            Some(started) if phase == Phase::Running => shop.open_door(started.port),
            Some(_) => {}
            None => at(&self.context.layout.state(shop.name()), shop.lost_its_process().map_err(io::Error::other))?,
        }
        tracing::info!(workshop = shop.name(), adopted = adopted.is_some(), ?phase, "a Workshop is taken up");
        let marker = shop.marker();
        self.supervise(shop, adopted);
        Ok(marker)
    }

    /// Ends the processes of this fleet that carry the marker of no Workshop.
    fn end_strangers(&self, accounted: Vec<String>) {
        let strangers = process::markers(&self.context.fleet_id).into_iter().filter(|held| !accounted.contains(held));
        for marker in strangers {
            tracing::warn!(marker, "processes that belong to no Workshop are ended");
            let grace = self.context.settings.stop_grace;
            self.tasks.spawn(async move { ending::end(&marker, None, grace).await });
        }
    }
}

impl Record {
    /// What it becomes when its process is not there any more: what ran is about to start again.
    pub(super) fn without_process(&self) -> Self {
        let mut next = Self { process: None, ..self.clone() };
        let status = self.status();
        if matches!(status.phase, Phase::Starting | Phase::Running) {
            let ready_at = status.ready_at;
            next.set_status(WorkshopStatus { phase: Phase::Starting, ready_at, ..WorkshopStatus::default() });
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
            // A launcher that was killed a moment ago may have left a child that has not begun its own program yet, and
            // that holds the lock until then.
            Err(Errno::WOULDBLOCK) if attempt < LOCK_ATTEMPTS => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => return Err(LocalFleetError::Locked(path)),
            Err(error) => return at(&path, Err(error.into())),
        }
    }
    Ok(file)
}

/// The fleet's identity: drawn once per data directory.
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
