//! Persistent state: one file per Workshop, replaced atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use launcher_workshop::{Workshop, WorkshopStatus};
use serde::{Deserialize, Serialize};

use super::layout::{self, Layout};
use super::login::Token;
use super::process::PersistentProcessId;

/// The fleet's state of one Workshop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// The object; its `deletionTimestamp` is set once it is being deleted.
    pub(super) workshop: Workshop,
    /// The started process, until its exit was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<Started>,
}

impl Record {
    /// The status of the Workshop.
    pub(super) fn status(&self) -> WorkshopStatus {
        self.workshop.status.clone().unwrap_or_default()
    }

    /// Sets the status for the current spec.
    pub(super) fn set_status(&mut self, status: WorkshopStatus) {
        let observed_generation = self.workshop.metadata.generation;
        self.workshop.status = Some(WorkshopStatus { observed_generation, ..status });
    }
}

/// A process that was started for a Workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    /// The leader of its process group.
    pub(super) leader: PersistentProcessId,
    /// The app's loopback port.
    pub(super) port: u16,
    /// The app's token; `None` if the app supports none, or was started by a version that set none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<Token>,
}

/// A record could not be stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum StateError {
    /// The system refuses the write.
    #[error("{path} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    /// The program is ending, or a bug.
    #[error("the state of a Workshop was not written: {0}")]
    BrokenOff(#[from] tokio::task::JoinError),
}

/// Writes a record atomically: after a crash of the program or the machine, the old or the new one is on disk.
pub(super) fn save(layout: &Layout, name: &str, record: &Record) -> Result<(), StateError> {
    let path = layout.state(name);
    let write = || {
        if !layout.record(name).is_dir() {
            layout::make_private(&layout.record(name))?;
            sync_directory(&layout.records())?;
        }
        let json = serde_json::to_vec_pretty(record).map_err(io::Error::other)?;
        replace(&path, &json)
    };
    write().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Removes a record and its state directory. The state file is removed first; after a crash the next start clears the
/// rest.
pub(super) fn remove(layout: &Layout, name: &str) -> Result<(), StateError> {
    let path = layout.state(name);
    let take = || {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        layout::remove(&layout.record(name))?;
        sync_directory(&layout.records())
    };
    take().map_err(|source| StateError::Write { path: path.clone(), source })
}

/// Reads all records. An unreadable one is set aside and logged, so that the others load. A directory without a record
/// is left over from an interrupted creation or deletion, and is removed if possible.
pub(super) fn load(layout: &Layout) -> io::Result<Vec<(String, Record)>> {
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
    tracing::error!(path = %aside.display(), %error, "setting aside unreadable Workshop record");
    fs::rename(path, aside)
}

fn clear(layout: &Layout, name: &str) {
    let left = layout.record(name);
    if layout.state(name).with_extension("json.unreadable").exists() {
        return;
    }
    if let Err(error) = layout::remove(&left) {
        tracing::error!(path = %left.display(), %error, "removing leftover Workshop directory failed");
    }
}

/// Replaces a file atomically.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync_directory)
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
