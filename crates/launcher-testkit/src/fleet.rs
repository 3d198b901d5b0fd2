//! An in-memory fleet. A test controls it and injects faults.

mod archives;
mod delay;
mod fault;
mod images;
mod script;
mod state;

use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use launcher_domain::template::{MaterialKind, MaterialSource};
use launcher_domain::{Clock, MaterialFinding, Report, SecretValues};
use launcher_fleet::{Archives, Deletion, Fleet, FleetError, FleetEvent, Images, SourceChecks};
use launcher_workshop::{Phase, ResourceExt, Workshop, WorkshopStatus};
use tokio::sync::mpsc::unbounded_channel;
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::TestClock;
pub use delay::Delay;
pub use fault::Fault;
use state::State;

/// An in-memory fleet. Clones share its state.
#[derive(Debug, Clone)]
pub struct FakeFleet {
    name: &'static str,
    state: Arc<Mutex<State>>,
    clock: Arc<TestClock>,
}

impl FakeFleet {
    /// Creates an empty fleet. With `runs_at_once` each Workshop is ready as soon as it is applied, otherwise the test
    /// makes it ready.
    #[must_use]
    pub fn new(clock: Arc<TestClock>, runs_at_once: bool) -> Self {
        let state = State { runs_at_once, ..State::default() };
        Self { name: "fake", state: Arc::new(Mutex::new(state)), clock }
    }

    /// Creates an empty fleet with another identity than [`FakeFleet::new`].
    #[must_use]
    pub fn named(name: &'static str, clock: Arc<TestClock>) -> Self {
        Self { name, ..Self::new(clock, false) }
    }

    /// The names of the existing Workshops.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().workshops.keys().cloned().collect()
    }

    /// The Workshop with this name.
    #[must_use]
    pub fn workshop(&self, name: &str) -> Option<Workshop> {
        self.lock().workshops.get(name).cloned()
    }

    /// The secret variables that the app of this Workshop got.
    #[must_use]
    pub fn secrets(&self, name: &str) -> SecretValues {
        self.lock().secrets.get(name).cloned().unwrap_or_default()
    }

    /// The names of the existing volumes.
    #[must_use]
    pub fn volumes(&self) -> Vec<String> {
        self.lock().volumes.iter().cloned().collect()
    }

    /// Begins to check course material: each source is found, unless its address contains `missing`.
    pub fn check_sources(&self) {
        self.lock().checks_sources = true;
    }

    /// Begins checks of course material that never end.
    pub fn hold_checks(&self) {
        let mut state = self.lock();
        (state.checks_sources, state.holds_checks) = (true, true);
    }

    /// Number of checks of course material that have begun.
    #[must_use]
    pub fn checks(&self) -> usize {
        self.lock().checks
    }

    /// Number of Workshops that were ever created.
    #[must_use]
    pub fn created(&self) -> usize {
        self.lock().created
    }

    /// Number of calls of `apply`, also failed calls. Calls with [`Fault::Hang`] do not count.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.lock().applied
    }

    /// Number of calls of `delete`, also failed calls.
    #[must_use]
    pub fn deletions(&self) -> usize {
        self.lock().deletions
    }

    /// Keeps each later deletion in progress until the test calls [`FakeFleet::remove_workshop`].
    pub fn hold_deletions(&self) {
        self.lock().holds_deletions = true;
    }

    /// Injects one fault into each of the next calls.
    pub fn inject_faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.lock().faults.extend(faults);
    }

    /// True if no injected fault remains.
    #[must_use]
    pub fn is_fault_free(&self) -> bool {
        self.lock().faults.is_empty()
    }

    /// Removes all remaining faults.
    pub fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    fn running(&self, name: &str) -> WorkshopStatus {
        running_status(name, self.clock.now())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// Returns the status of a Workshop that has been ready since this time.
#[must_use]
pub fn running_status(name: &str, ready_at: Timestamp) -> WorkshopStatus {
    WorkshopStatus {
        phase: Phase::Running,
        report: Report {
            url: Some(format!("http://{name}.workshops.test/")),
            frame_url: Some(format!("http://{name}.workshops.test/_launcher/frame")),
            ..Report::default()
        },
        ready_at: Some(ready_at),
        ..WorkshopStatus::default()
    }
}

#[async_trait]
impl Fleet for FakeFleet {
    async fn apply_with_secrets(&self, wanted: &Workshop, secrets: &SecretValues) -> Result<Workshop, FleetError> {
        let running = self.running(&wanted.name_any());
        let answer = self.lock().apply(wanted, secrets, running);
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError> {
        let delay = self.lock().delayed_deletion.take();
        if let Some(delay) = delay {
            delay.pass().await;
        }
        let answer = self.lock().delete(name, uid);
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError> {
        let delay = self.lock().delayed_read.take();
        if let Some(delay) = delay {
            delay.pass().await;
        }
        if self.lock().unreadable.contains(name) {
            return Err(FleetError::Refused("the test says that it cannot be read".to_owned()));
        }
        Ok(self.workshop(name))
    }

    async fn identity(&self) -> Result<String, FleetError> {
        Ok(self.name.to_owned())
    }

    async fn delete_volume(&self, name: &str) -> Result<(), FleetError> {
        let answer = self.lock().delete_volume(name);
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    fn watch(&self) -> BoxStream<'static, FleetEvent> {
        let (watcher, events) = unbounded_channel();
        let mut state = self.lock();
        drop(watcher.send(FleetEvent::Relisted(state.readable())));
        state.watchers.push(watcher);
        UnboundedReceiverStream::new(events).boxed()
    }

    fn source_checks(&self) -> Option<&dyn SourceChecks> {
        self.lock().checks_sources.then_some(self as &dyn SourceChecks)
    }

    fn archives(&self) -> Option<&dyn Archives> {
        let lacks_archives = self.lock().lacks_archives;
        (!lacks_archives).then_some(self)
    }

    fn images(&self) -> Option<&dyn Images> {
        let has_images = self.lock().images.is_some();
        has_images.then_some(self)
    }
}

#[async_trait]
impl SourceChecks for FakeFleet {
    async fn check(&self, sources: &[MaterialSource]) -> Result<Vec<MaterialFinding>, FleetError> {
        self.lock().checks += 1;
        if self.lock().holds_checks {
            return std::future::pending().await;
        }
        let found = |source: &MaterialSource| match source.kind {
            _ if source.url.contains("missing") => MaterialFinding::failed("The server does not have the material."),
            MaterialKind::Git => MaterialFinding {
                reference: Some("main".to_owned()),
                version: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
                files: Some(12),
                bytes: Some(34_567),
                message: None,
            },
            MaterialKind::Archive => MaterialFinding {
                version: Some("ab".repeat(32)),
                files: Some(1),
                bytes: Some(2),
                ..MaterialFinding::default()
            },
        };
        Ok(sources.iter().map(found).collect())
    }
}
