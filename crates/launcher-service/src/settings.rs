//! The settings of the use cases, as flags and environment variables. The comment of a field is its help text.

use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, value_parser};
use launcher_domain::LaunchRate;
use launcher_process::settings::from_arguments;
use launcher_snapshots::{Location, SnapshotStore, StoreError};

use crate::snapshots::Snapshots;

const DAY: u64 = 24 * 3600;

/// Limits that prevent one person, one course or one mistake from using all capacity.
//
// clap reads `Option<T>` as an optional argument. `std::option::Option<T>` is the type of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Limits {
    /// Maximum number of workshops per user; admins are exempt
    #[arg(long, env = "SERVICE_MAX_INSTANCES_PER_USER", default_value = "3", value_name = "COUNT")]
    pub max_instances_per_user: u32,

    /// Maximum number of classes that are not over per person of SERVICE_CLASS_CREATORS; admins are exempt
    #[arg(long, env = "SERVICE_MAX_CLASSES_PER_CREATOR", default_value = "20", value_name = "COUNT")]
    pub max_classes_per_creator: u32,

    /// Maximum number of workshops at a time of a class that a person of SERVICE_CLASS_CREATORS creates; admins can raise it
    #[arg(long, env = "SERVICE_MAX_WORKSHOPS_PER_CREATED_CLASS", default_value = "100", value_name = "COUNT",
          value_parser = value_parser!(u32).range(1..=10_000))]
    pub max_workshops_per_created_class: u32,

    /// Launches per user and minute in the long run; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_RATE", default_value = "6", value_name = "COUNT",
          value_parser = value_parser!(u32).range(1..=60_000))]
    pub launch_rate: u32,

    /// Launches per user at once after a pause; admins are exempt
    #[arg(long, env = "SERVICE_LAUNCH_BURST", default_value = "20", value_name = "COUNT",
          value_parser = value_parser!(u32).range(1..=60_000))]
    pub launch_burst: u32,

    /// Maximum number of workshops that start at the same time; others wait in the queue
    #[arg(long, env = "SERVICE_MAX_CONCURRENT_STARTS", default_value = "64", value_name = "COUNT",
          value_parser = value_parser!(u32).range(1..))]
    pub max_concurrent_starts: u32,

    /// Maximum number of launches in the queue, and in that of each namespace of classes; the service refuses further ones
    #[arg(long, env = "SERVICE_MAX_QUEUED", default_value = "1000", value_name = "COUNT",
          value_parser = value_parser!(u32).range(1..))]
    pub max_queued: u32,

    /// Maximum number of checks of course material at the same time, each with up to 96 MiB of memory; 0 for no checks
    #[arg(long, env = "SERVICE_MAX_MATERIAL_CHECKS", default_value = "2", value_name = "COUNT",
          value_parser = value_parser!(u32).range(..=64))]
    pub max_material_checks: u32,

    /// Time in which a workshop must become ready
    #[arg(long, env = "SERVICE_START_TIMEOUT", default_value = "600", value_name = "SECONDS",
          value_parser = value_parser!(u64).range(1..=86_400).map(Duration::from_secs))]
    pub start_timeout: Duration,

    /// Retention of ended workshops, undismissed failed workshops, and activity log entries
    #[arg(long = "history-days", env = "SERVICE_HISTORY_DAYS", default_value = "30", value_name = "DAYS",
          value_parser = value_parser!(u64).range(1..=3650).map(days))]
    pub history: Duration,

    /// Retention of volumes with users' files after their last use; 0 for no end
    #[arg(long = "volume-retention-days", env = "SERVICE_VOLUME_RETENTION_DAYS", default_value = "180", value_name = "DAYS",
          value_parser = value_parser!(u64).range(0..=3650).map(|count| (count > 0).then(|| days(count))))]
    pub volume_retention: std::option::Option<Duration>,

    /// Total size of the volumes with one user's files, in GiB; 0 for no limit. Admins have no limit
    #[arg(long, env = "SERVICE_MAX_STORAGE_GIB_PER_USER", default_value = "0", value_name = "GIB",
          value_parser = value_parser!(u32).range(..=1_048_576).map(|size| (size > 0).then_some(size)))]
    pub max_storage_gib_per_user: std::option::Option<u32>,
}

impl Limits {
    /// Returns the launch rate limit of one person.
    #[must_use]
    pub fn rate(&self) -> LaunchRate {
        LaunchRate { per_minute: self.launch_rate, burst: self.launch_burst }
    }
}

impl Default for Limits {
    #[expect(clippy::expect_used, reason = "a unit test of the defaults fails first")]
    fn default() -> Self {
        from_arguments(&[]).expect("each limit has a valid default")
    }
}

/// Settings of the object store that has the files of ended workshops.
#[derive(Debug, Clone, Args)]
pub struct SnapshotSettings {
    /// Folder or bucket (s3://BUCKET/PREFIX) that gets the files of workshops without a volume when they end; default:
    /// none, these files are deleted
    #[arg(long, env = "SERVICE_SNAPSHOT_STORE", value_name = "LOCATION", value_parser = Location::parse)]
    pub snapshot_store: Option<Location>,

    /// Retention of the files in the snapshot store
    #[arg(long = "snapshot-days", env = "SERVICE_KEEP_DAYS", default_value = "7", value_name = "DAYS",
          value_parser = value_parser!(u64).range(1..=3650).map(days))]
    pub snapshot_retention: Duration,
}

impl SnapshotSettings {
    /// Opens the object store; `None` without one.
    pub fn open(&self) -> Result<Option<Snapshots>, StoreError> {
        let Some(location) = &self.snapshot_store else { return Ok(None) };
        Ok(Some(Snapshots { store: SnapshotStore::open(location)?, retention: self.snapshot_retention }))
    }
}

fn days(count: u64) -> Duration {
    Duration::from_secs(count * DAY)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use launcher_domain::LaunchRate;
    use launcher_process::settings::from_arguments;

    use super::{DAY, Limits};

    #[test]
    fn default_limits_have_expected_values() {
        let limits = Limits::default();
        assert_eq!((limits.max_instances_per_user, limits.max_concurrent_starts, limits.max_queued), (3, 64, 1000));
        assert_eq!(limits.rate(), LaunchRate { per_minute: 6, burst: 20 });
        assert_eq!((limits.start_timeout.as_secs(), limits.history.as_secs()), (600, 30 * DAY));
        assert_eq!(limits.volume_retention, Some(Duration::from_secs(180 * DAY)));
        assert_eq!(limits.max_storage_gib_per_user, None);
    }

    #[test]
    fn zero_means_no_end_of_volumes_and_a_size_limits_their_storage() {
        let limits: Limits = from_arguments(&["--volume-retention-days=0", "--max-storage-gib-per-user=3"]).unwrap();
        assert_eq!((limits.volume_retention, limits.max_storage_gib_per_user), (None, Some(3)));
    }
}
