//! A volume as the API sends it.

use launcher_domain::EmailAddress;
use launcher_service::{Launcher, ListedVolume};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::time::rfc3339;

/// The kept files of one user. Times are RFC 3339 in UTC with milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VolumeResponse {
    /// Name in paths.
    #[schema(example = "work-a7k3m9qz2x")]
    name: String,
    /// The user whose files these are.
    #[schema(value_type = String, example = "alice@example.org")]
    owner_email: EmailAddress,
    /// Template whose launches use the volume; null if all templates with the storage `home` share it.
    #[schema(required)]
    template_id: Option<Uuid>,
    /// Name of this template at the first launch.
    #[schema(required, example = "Statistics 101")]
    template_name: Option<String>,
    /// Size, as a Kubernetes quantity.
    #[schema(example = "1Gi")]
    size: String,
    /// Name of the instance that uses the volume, also while it is suspended; null if none does.
    #[schema(required, example = "statistics-101-a7k3m9qz2x")]
    used_by: Option<String>,
    /// Time of the first launch.
    #[schema(format = DateTime, example = "2026-03-02T08:00:00.000Z")]
    created_at: String,
    /// Time of the last use, at most one hour too early.
    #[schema(format = DateTime, example = "2026-03-02T10:00:00.000Z")]
    last_used_at: String,
    /// Time at which the service deletes the volume unless it is used before; null if never. The service then also ends a
    /// suspended instance that holds the volume.
    #[schema(required, format = DateTime, example = "2026-08-29T10:00:00.000Z")]
    deleted_after: Option<String>,
}

impl VolumeResponse {
    /// Converts a volume.
    pub(crate) fn new(launcher: &Launcher, ListedVolume { volume, used_by }: ListedVolume) -> Self {
        let is_in_use = used_by.as_ref().is_some_and(|user| !user.is_suspended);
        let deleted_after = launcher.volume_retention().and_then(|retention| volume.deleted_after(retention));
        Self {
            name: volume.name,
            owner_email: volume.owner_email,
            template_id: volume.template_id,
            template_name: volume.template_name,
            size: volume.size,
            created_at: rfc3339(volume.created_at),
            last_used_at: rfc3339(volume.last_used_at),
            deleted_after: deleted_after.filter(|_| !is_in_use).map(rfc3339),
            used_by: used_by.map(|user| user.k8s_name),
        }
    }
}
