//! Stores the records: one file per Workshop, replaced atomically.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{make_private, remove_directory, replace_file, sync_directory};
use super::layout::Layout;
use super::record::Record;

/// Error of storing or removing a record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// The file system reported an error.
    #[error("{path} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    /// The blocking task did not finish, because the program is ending or the task panicked.
    #[error("writing the state of a Workshop was aborted: {0}")]
    Aborted(#[from] tokio::task::JoinError),
}

/// Writes a record atomically. After a crash of the launcher or the machine, the disk has the old or the new record.
pub(crate) fn save<P: Serialize>(layout: &Layout, name: &str, record: &Record<P>) -> Result<(), StateError> {
    let path = layout.state(name);
    let write = || {
        if !layout.record(name).is_dir() {
            make_private(&layout.record(name))?;
            sync_directory(&layout.records())?;
        }
        let json = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
        replace_file(&path, &json)
    };
    write().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Removes a record and its state directory, the state file first. If the launcher is killed in between, the next start
/// removes the rest of the directory.
pub(crate) fn remove(layout: &Layout, name: &str) -> Result<(), StateError> {
    let path = layout.state(name);
    let take = || {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        remove_directory(&layout.record(name))?;
        sync_directory(&layout.records())
    };
    take().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Reads all records. Renames and logs an unreadable record, so that the other records load. Removes a state directory
/// without a record: an interrupted creation or deletion left it.
pub(crate) fn load<P: DeserializeOwned>(layout: &Layout) -> io::Result<Vec<(String, Record<P>)>> {
    let mut records = Vec::new();
    for entry in fs::read_dir(layout.records())? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        let path = layout.state(&name);
        match fs::read(&path) {
            Ok(json) => match serde_json::from_slice(&json) {
                Ok(record) => records.push((name, record)),
                Err(error) => set_aside(&path, &error)?,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => clear(layout, &name),
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

fn set_aside(path: &Path, error: &serde_json::Error) -> io::Result<()> {
    let aside = path.with_extension("json.unreadable");
    tracing::error!(path = %aside.display(), %error, "Workshop record is unreadable, renaming it");
    fs::rename(path, aside)
}

fn clear(layout: &Layout, name: &str) {
    let left = layout.record(name);
    if layout.state(name).with_extension("json.unreadable").exists() {
        return;
    }
    if let Err(error) = remove_directory(&left) {
        tracing::error!(path = %left.display(), %error, "removing the state directory of a deleted Workshop failed");
    }
}
