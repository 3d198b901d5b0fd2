//! Volumes: the kept files of users. A volume outlives the workshops that use it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::email::EmailAddress;

/// The kept files of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Identifier that sorts by creation time (UUID version 7).
    pub volume_id: Uuid,
    /// Unguessable name, in URL paths and in the fleet.
    pub name: String,
    /// The user whose files these are.
    pub owner_email: EmailAddress,
    /// Template whose launches use the volume; `None` if all templates of the kind `home` share it.
    pub template_id: Option<Uuid>,
    /// Name of the template at the creation of the volume; `None` if templates share the volume.
    pub template_name: Option<String>,
    /// Size, as a Kubernetes quantity.
    pub size: String,
    /// Creation time: of the first launch.
    pub created_at: Timestamp,
    /// Time of the last use, at most one hour too early while a workshop uses the volume.
    pub last_used_at: Timestamp,
}

impl Volume {
    /// Returns the time at which an unused volume is deleted.
    #[must_use]
    pub fn deleted_after(&self, retention: Duration) -> Timestamp {
        let retention = SignedDuration::try_from(retention).unwrap_or(SignedDuration::MAX);
        self.last_used_at.checked_add(retention).unwrap_or(Timestamp::MAX)
    }
}
