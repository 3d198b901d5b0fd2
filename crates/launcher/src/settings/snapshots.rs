//! Settings of snapshots.

use std::time::Duration;

use clap::Args;
use launcher_service::Snapshots;
use launcher_snapshots::{Location, SnapshotStore, StoreError};

const DAY: u64 = 24 * 3600;

/// Settings of the object store that has the files of ended workshops.
#[derive(Debug, Clone, Args)]
pub(crate) struct SnapshotOptions {
    /// Folder or bucket (s3://BUCKET/PREFIX) that gets the files of workshops without a volume when they end; default:
    /// none, these files are deleted
    #[arg(long, env = "SERVICE_SNAPSHOT_STORE", value_name = "LOCATION", value_parser = Location::parse)]
    pub(crate) snapshot_store: Option<Location>,

    /// Retention of the files in the snapshot store
    #[arg(long, env = "SERVICE_KEEP_DAYS", default_value = "7", value_name = "DAYS",
          value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) snapshot_days: u64,
}

impl SnapshotOptions {
    /// Opens the object store; `None` without one.
    pub(crate) fn open(&self) -> Result<Option<Snapshots>, StoreError> {
        let Some(location) = &self.snapshot_store else { return Ok(None) };
        let retention = Duration::from_secs(self.snapshot_days * DAY);
        Ok(Some(Snapshots { store: SnapshotStore::open(location)?, retention }))
    }
}
