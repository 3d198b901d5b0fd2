//! What survives the launcher: one file per Workshop, replaced as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use launcher_workshop::{Workshop, WorkshopStatus};
use serde::{Deserialize, Serialize};

use super::layout::{self, Layout};
use super::login::Token;
use super::process::ProcessId;

/// What the fleet knows of one Workshop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// The object; its `deletionTimestamp` is set once it is to go.
    pub(super) workshop: Workshop,
    /// What was started for it and not seen to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<Started>,
}

impl Record {
    /// How far the Workshop is.
    pub(super) fn status(&self) -> WorkshopStatus {
        self.workshop.status.clone().unwrap_or_default()
    }

    /// Sets how far the Workshop is, as the answer to its present spec.
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
    pub(super) leader: ProcessId,
    /// Where its app listens on loopback.
    pub(super) port: u16,
    /// What its app asks for; `None` for one that knows no token, or was started by a version that gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<Token>,
}

/// A record could not be stored.
#[derive(Debug, thiserror::Error)]
pub(super) enum StateError {
    /// The system refuses.
    #[error("{path} cannot be written: {source}")]
    Write { path: PathBuf, source: io::Error },
    /// The program is ending, or a defect.
    #[error("the state of a Workshop was not written: {0}")]
    BrokenOff(#[from] tokio::task::JoinError),
}

/// Writes a record so that a crash, of the program or of the machine, leaves the old one or the new one.
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

/// Takes a record away, and with it the directory of what the fleet knows. The state goes first: what is left behind
/// after a crash is cleared at the next start.
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

/// Reads all records. What cannot be read is set aside and reported, so that it does not stop the others; directories
/// without a record are what a crash left of a creation or a deletion, and are cleared, as far as that can be done.
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
    tracing::error!(path = %aside.display(), %error, "the state of a Workshop cannot be read; it was set aside");
    fs::rename(path, aside)
}

fn clear(layout: &Layout, name: &str) {
    let left = layout.record(name);
    if layout.state(name).with_extension("json.unreadable").exists() {
        return;
    }
    if let Err(error) = layout::remove(&left) {
        tracing::error!(path = %left.display(), %error, "what is left of a Workshop cannot be removed");
    }
}

/// Replaces a file as a whole.
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
