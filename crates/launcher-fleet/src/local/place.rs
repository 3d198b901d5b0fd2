//! Whether a data directory is where it was used last. A copy of one has the Workshops of the original, and none of its
//! processes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;

use launcher_domain::Clock;
use launcher_domain::clock::SystemEntropy;
use launcher_domain::names::uuid_v7;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::state::{self, Record};

/// Where a data directory was used last. It is where its lock is: one that is moved within its file system stays in its
/// place, and a copy does not have it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    device: u64,
    inode: u64,
    /// What processes that were started here are known by.
    id: String,
}

/// What processes that are started in this place are known by: the fleet's identity, and in a copy an id of its own.
/// The processes that the records of a copy name are the original's, and are forgotten.
///
/// # Errors
/// A file cannot be read or written. A copy is still known as one then.
pub(super) fn settle(
    layout: &Layout,
    lock: &File,
    fleet_id: &str,
    records: &mut [(String, Record)],
    clock: &dyn Clock,
) -> io::Result<String> {
    let here = lock.metadata()?;
    let id = match read(layout)? {
        Some(last) if (last.device, last.inode) == (here.dev(), here.ino()) => return Ok(last.id),
        Some(_) => {
            tracing::warn!(
                "this data directory is a copy, or was moved to another file system: what runs from where it was is \
                 left alone, and its workshops start anew here"
            );
            forget_processes(layout, records)?;
            uuid_v7(clock, &SystemEntropy).to_string()
        }
        // New, or used by a version that did not note its place.
        None => fleet_id.to_owned(),
    };
    let place = Place { device: here.dev(), inode: here.ino(), id };
    state::replace(&layout.place(), &serde_json::to_vec_pretty(&place)?)?;
    Ok(place.id)
}

fn read(layout: &Layout) -> io::Result<Option<Place>> {
    match fs::read(layout.place()) {
        Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn forget_processes(layout: &Layout, records: &mut [(String, Record)]) -> io::Result<()> {
    for (name, record) in records {
        record.process = None;
        state::save(layout, name, record).map_err(io::Error::other)?;
    }
    Ok(())
}
