//! One source: find its version, receive it, merge it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use launcher_domain::material::{MAX_CONFLICTS, MaterialOutcome, SourceReport};
use launcher_domain::template::{MaterialKind, MaterialSource};

use crate::archive;
use crate::content::Content;
use crate::directory::Dir;
use crate::failure::Failure;
use crate::git::Repository;
use crate::limits::Limits;
use crate::merge::state::{State, Store};
use crate::merge::{Version, merge};
use crate::meter::Meter;
use crate::secret::Secret;
use crate::space;
use crate::web::{Reach, Web};

/// Interval of attempts to become the source that unpacks.
const RETRY: Duration = Duration::from_millis(20);

/// Surroundings that all sources share.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) directory: PathBuf,
    /// Directory with the secrets of private sources.
    pub(crate) secrets: Option<PathBuf>,
    pub(crate) limits: Limits,
    /// End of the run.
    pub(crate) deadline: Instant,
    /// Sources download at the same time, but unpack one after the other: this bounds the memory.
    pub(crate) unpacking: Mutex<()>,
}

impl Surroundings {
    fn unpacking(&self, meter: &Meter) -> Result<MutexGuard<'_, ()>, Failure> {
        loop {
            match self.unpacking.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            meter.advance()?;
            std::thread::sleep(RETRY);
        }
    }
}

/// Places one source. Every failure becomes a part of the report.
pub(crate) fn place(surroundings: &Surroundings, source: &MaterialSource, meter: &Meter) -> SourceReport {
    Run { surroundings, source, meter }.place().unwrap_or_else(|failure| SourceReport {
        version: meter.last_version(),
        ..SourceReport::failed(&source.target, failure.to_string())
    })
}

#[derive(Debug, Clone, Copy)]
struct Run<'a> {
    surroundings: &'a Surroundings,
    source: &'a MaterialSource,
    meter: &'a Meter,
}

impl Run<'_> {
    fn place(self) -> Result<SourceReport, Failure> {
        if let Some((field, _)) = self.source.broken_rules().first() {
            return Err(Failure::new(format!("The field {field} of the source is invalid: correct the template.")));
        }
        let directory = &self.surroundings.directory;
        let root = Dir::open(directory).map_err(|error| {
            Failure::new(format!("The directory {} cannot be opened: {error}. Ask an admin.", directory.display()))
        })?;
        let store = self.store(&root)?;
        let state = store.load()?;
        self.meter.set_last_version(state.version.as_deref());
        let secret = Secret::of(self.source, self.surroundings.secrets.as_deref());
        let web = Web::new(&Reach::All, self.meter, &self.surroundings.limits, self.surroundings.deadline, secret);
        match self.source.kind {
            MaterialKind::Git => self.place_repository(&web, &root, &store, &state),
            MaterialKind::Archive => self.place_archive(&web, &root, &store, &state),
        }
    }

    /// Opens the state. A link of a launch can name another repository for the same target; the template names archives.
    fn store(self, root: &Dir) -> Result<Store, Failure> {
        let repository = (self.source.kind == MaterialKind::Git).then_some(self.source.url.as_str());
        Store::open(root, &self.source.target, repository, &self.surroundings.limits)
    }

    fn place_repository(
        self,
        web: &Web<'_>,
        root: &Dir,
        store: &Store,
        state: &State,
    ) -> Result<SourceReport, Failure> {
        let (limits, folder) = (&self.surroundings.limits, self.source.folder.as_deref());
        let repository = Repository::find(web, &self.source.url, self.source.reference.as_deref())?;
        let version = repository.version();
        if state.is_current(&version, folder) {
            return Ok(self.unchanged(version));
        }
        let pack = repository.receive(space::temporary_file(store.directory())?, limits, self.meter)?;
        let _alone = self.surroundings.unpacking(self.meter)?;
        let mut content = pack.open(folder, limits, self.meter)?;
        self.merge(root, store, state, version, &mut content)
    }

    fn place_archive(self, web: &Web<'_>, root: &Dir, store: &Store, state: &State) -> Result<SourceReport, Failure> {
        let (limits, folder) = (&self.surroundings.limits, self.source.folder.as_deref());
        let version = self.source.sha256.as_deref().unwrap_or_default().to_ascii_lowercase();
        if state.is_current(&version, folder) {
            return Ok(self.unchanged(version));
        }
        let file = space::temporary_file(store.directory())?;
        archive::download(web, &self.source.url, &version, &file, limits)?;
        let _alone = self.surroundings.unpacking(self.meter)?;
        let mut content = archive::open(file, folder, limits, self.meter)?;
        self.merge(root, store, state, version, content.as_mut())
    }

    fn merge(
        self,
        root: &Dir,
        store: &Store,
        state: &State,
        version: String,
        content: &mut dyn Content,
    ) -> Result<SourceReport, Failure> {
        let to = Version { id: &version, folder: self.source.folder.as_deref() };
        let merged = merge(root, store, to, content, &self.surroundings.limits, self.meter);
        if merged.is_err() {
            // A part of a large file would fill the volume.
            let _ = store.directory().remove(&store.part());
        }
        let merged = merged?;
        let outcome = match (state.is_new(), merged.changes + merged.conflicts.len()) {
            (true, _) => MaterialOutcome::Placed,
            (false, 0) => MaterialOutcome::Unchanged,
            (false, _) => MaterialOutcome::Updated,
        };
        Ok(SourceReport {
            outcome,
            conflict_count: u32::try_from(merged.conflicts.len()).unwrap_or(u32::MAX),
            conflicts: merged.conflicts.into_iter().take(MAX_CONFLICTS).collect(),
            message: message(content.manifest().omitted.sentence(), merged.locked.len()),
            ..self.unchanged(version)
        })
    }

    fn unchanged(self, version: String) -> SourceReport {
        SourceReport {
            target: self.source.target.clone(),
            outcome: MaterialOutcome::Unchanged,
            version: Some(version),
            conflicts: Vec::new(),
            conflict_count: 0,
            message: None,
        }
    }
}

/// Returns the remark about omitted entries and locked files.
fn message(omitted: Option<String>, locked: usize) -> Option<String> {
    let files = if locked == 1 { "1 file was" } else { &format!("{locked} files were") };
    let locked = (locked > 0).then(|| {
        format!("{files} not updated, in directories without access: correct their permissions, and launch the workshop again.")
    });
    let sentences: Vec<String> = omitted.into_iter().chain(locked).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}
