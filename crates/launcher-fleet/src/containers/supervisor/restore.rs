//! Places the saved files of an earlier Workshop in the container of the app before it starts for the first time.

use launcher_workshop::WorkshopRestore;

use crate::containers::engine::{EngineError, Selection};
use crate::containers::names::Part;
use crate::containers::workload::Workload;
use crate::machine::NotPlaced;
use crate::restore::{RestoreError, open};

impl From<EngineError> for NotPlaced {
    fn from(error: EngineError) -> Self {
        match error {
            error @ EngineError::Unreachable { .. } => Self::Setback(error.into()),
            error => Self::Files(RestoreError::Final(error.to_string())),
        }
    }
}

/// Places the files of the directory, and then those of each volume that is mounted below it: Podman extracts into a volume
/// only if the path begins with the one of the mount.
pub(super) async fn place(workload: &Workload, restore: &WorkshopRestore) -> Result<(), NotPlaced> {
    let (engine, app) = (workload.engine(), workload.container(Part::App));
    let directory = match &restore.directory {
        Some(directory) => directory.clone(),
        None => engine.working_dir(&app).await?,
    };
    let mounts = workload.mounted_material().into_iter();
    let mounts: Vec<String> = mounts.filter_map(|volume| below(&directory, &volume.path)).collect();
    let own = Selection::Without(mounts.clone());
    for selection in std::iter::once(own).chain(mounts.into_iter().map(Selection::Below)) {
        let files = open(workload.settings().saved_files.as_ref(), restore).await?;
        engine.write_directory(&app, &directory, selection, files).await?;
    }
    Ok(())
}

/// Returns the path of a volume relative to the directory.
fn below(directory: &str, path: &str) -> Option<String> {
    let path = path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/')?;
    Some(path.trim_end_matches('/').to_owned()).filter(|path| !path.is_empty())
}
