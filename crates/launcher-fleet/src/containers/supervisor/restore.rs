//! Places the saved files of an earlier Workshop in the container of the app before it starts for the first time. The app never
//! starts with a part of them.

use std::sync::Arc;

use launcher_workshop::WorkshopRestore;
use tokio::time::timeout;

use super::outcome::Outcome;
use crate::containers::engine::{EngineError, Selection};
use crate::containers::names::Part;
use crate::containers::workload::Workload;
use crate::restore::{ATTEMPTS, PATIENCE, RestoreError, open, wait_to_retry};

/// Places the files, and stores that they are placed. Does nothing if they are. After an interruption, the next call places all
/// files again: no app has been in the container yet.
///
/// # Errors
/// A failure of the Workshop, or an unreachable engine.
pub(super) async fn restore_files(workload: &Arc<Workload>) -> Result<(), Outcome> {
    let record = workload.stored_record().get();
    let Some(restore) = record.pending_restore() else { return Ok(()) };
    let name = workload.stored_record().name();
    for attempt in 1..=ATTEMPTS {
        let placed = timeout(PATIENCE, place(workload, restore)).await;
        let error = match placed.unwrap_or_else(|_| Err(RestoreError::late().into())) {
            Ok(()) => break,
            Err(Failed::Engine(error @ EngineError::Unreachable { .. })) => return Err(Outcome::Retry(error)),
            Err(Failed::Engine(error)) => RestoreError::Final(error.to_string()),
            Err(Failed::Files(error)) => error,
        };
        wait_to_retry(name, error, attempt).await.map_err(|error| Outcome::failed(error.into()))?;
    }
    workload.stored_record().settle(|record| record.is_restored = true).await;
    tracing::info!(workshop = name, snapshot = restore.snapshot, "placed saved files");
    Ok(())
}

/// Error of one attempt.
#[derive(Debug)]
enum Failed {
    Files(RestoreError),
    Engine(EngineError),
}

impl From<RestoreError> for Failed {
    fn from(error: RestoreError) -> Self {
        Self::Files(error)
    }
}

impl From<EngineError> for Failed {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// Places the files of the directory, and then those of each volume that is mounted below it: Podman extracts into a volume
/// only if the path begins with the one of the mount.
async fn place(workload: &Workload, restore: &WorkshopRestore) -> Result<(), Failed> {
    let context = workload.context();
    let (engine, app) = (&context.engine, workload.container(Part::App));
    let directory = match &restore.directory {
        Some(directory) => directory.clone(),
        None => engine.working_dir(&app).await?,
    };
    let mounts = workload.mounted_material().into_iter();
    let mounts: Vec<String> = mounts.filter_map(|volume| below(&directory, &volume.path)).collect();
    let own = Selection::Without(mounts.clone());
    for selection in std::iter::once(own).chain(mounts.into_iter().map(Selection::Below)) {
        let files = open(context.settings.saved_files.as_ref(), restore).await?;
        engine.write_directory(&app, &directory, selection, files).await?;
    }
    Ok(())
}

/// Returns the path of a volume relative to the directory.
fn below(directory: &str, path: &str) -> Option<String> {
    let path = path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/')?;
    Some(path.trim_end_matches('/').to_owned()).filter(|path| !path.is_empty())
}
