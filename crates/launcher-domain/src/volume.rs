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
    /// Kubernetes namespace of the volume, and so of every workshop that uses it. `None`: the namespace of the workshops that are
    /// in no namespace of a class.
    pub namespace: Option<String>,
    /// Size, as a Kubernetes quantity.
    pub size: String,
    /// Creation time: of the first launch.
    pub created_at: Timestamp,
    /// Time of the last use, at most one hour too early while a workshop uses the volume.
    pub last_used_at: Timestamp,
    /// Latest time of the deletion that the owner was shown. `None`: kept without end, until a retention is announced.
    pub kept_until: Option<Timestamp>,
}

impl Volume {
    /// Returns the time at which an unused volume is deleted: after the retention, and never earlier than announced. `None`
    /// while the volume is kept without end.
    #[must_use]
    pub fn deleted_after(&self, retention: Duration) -> Option<Timestamp> {
        let retention = SignedDuration::try_from(retention).unwrap_or(SignedDuration::MAX);
        let after = self.last_used_at.checked_add(retention).unwrap_or(Timestamp::MAX);
        self.kept_until.map(|announced| announced.max(after))
    }
}
