//! Conversion of the settings to the limits of the service.

use std::time::Duration;

use launcher_domain::{LaunchRate, Limits};

use super::ServeSettings;

impl ServeSettings {
    /// Returns the limits of the service.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_instances_per_user: self.max_instances_per_user,
            launch_rate: LaunchRate { per_minute: self.launch_rate, burst: self.launch_burst },
            max_concurrent_starts: self.max_concurrent_starts,
            max_queued: self.max_queued,
            start_timeout: Duration::from_secs(self.start_timeout),
            history: Duration::from_secs(self.history_days * 24 * 3600),
            volume_retention: (self.volume_retention_days > 0)
                .then(|| Duration::from_secs(self.volume_retention_days * 24 * 3600)),
            max_storage_gib_per_user: (self.max_storage_gib_per_user > 0).then_some(self.max_storage_gib_per_user),
        }
    }
}
