//! Claims of volumes: a launch claims the volume of its owner and template, and a resume uses its volume again.

use std::sync::LazyLock;

use jiff::Timestamp;
use launcher_domain::quantity::Quantity;
use launcher_domain::{Instance, InstanceState, StorageKind, TemplateSettings, Volume};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::sql::query;
use crate::stored::Stored;
use crate::table::Record;
use crate::write::WriteTransaction;

const CLAIM: &str = "UPDATE volumes SET last_used_at = $1 WHERE owner_email = $2 AND template_id = $3 \
                     AND deleted_at IS NULL RETURNING name, size";
static INSERT: LazyLock<String> = LazyLock::new(|| Volume::TABLE.insert());
/// The instance that uses a volume. Its condition is that of the index `workshop_instances_volume`.
macro_rules! used_by {
    ($columns:literal, $volume:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM workshop_instances AS used WHERE used.volume = ",
            $volume,
            " AND used.volume IS NOT NULL AND used.state IN \
              ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating') LIMIT 1"
        )
    };
}
pub(crate) use used_by;

pub(crate) const USED_BY: &str = used_by!("used.k8s_name, used.state", "$1");
/// Another instance than `$2` that uses a volume.
pub(crate) const USED_BY_OTHER: &str = "SELECT used.k8s_name, used.state FROM workshop_instances AS used \
     WHERE used.volume = $1 AND used.k8s_name <> $2 AND used.volume IS NOT NULL AND used.state IN \
     ('queued', 'starting', 'running', 'suspending', 'suspended', 'terminating') LIMIT 1";
const USE_AGAIN: &str = "UPDATE volumes SET last_used_at = $1 WHERE name = $2 AND deleted_at IS NULL";

const SIZES: &str = "SELECT size FROM volumes WHERE owner_email = $1 AND deleted_at IS NULL";

/// Result of a claim.
pub(crate) enum Claim {
    /// The instance may use this volume; `None` if its template has no storage.
    Claimed(Option<ClaimedVolume>),
    /// Another instance uses the volume.
    InUse(VolumeUser),
    /// A new volume would exceed the owner's limit.
    TooLarge { limit_gib: u32 },
}

/// Volume that a new instance uses.
pub(crate) struct ClaimedVolume {
    pub(crate) name: String,
    /// Size at the creation of the row. A template may have got another one since.
    size: String,
}

impl ClaimedVolume {
    /// Returns the settings of an instance with the size of its volume. The fleet may create the volume only now, and the
    /// limit of the owner counts this size.
    pub(crate) fn resized(&self, settings: &TemplateSettings) -> TemplateSettings {
        let mut settings = settings.clone();
        if let (Some(storage), Ok(size)) = (&mut settings.storage, Quantity::parse(&self.size)) {
            storage.size = size;
        }
        settings
    }
}

/// The instance that uses a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeUser {
    /// Name of the instance.
    pub k8s_name: String,
    /// True if the instance is suspended: it holds the volume until it is resumed or ended.
    pub is_suspended: bool,
}

/// Returns the bytes of a stored quantity. An unreadable one, which only a change of the database by hand can make, counts as
/// zero, so that it does not prevent launches.
fn bytes(size: &str) -> u128 {
    Quantity::parse(size).map_or(0, |quantity| quantity.milli().div_ceil(1000))
}

impl WriteTransaction {
    /// Claims the owner's volume for a new instance, or creates one with the name in `instance.volume`. `limit_gib` is the
    /// maximum total size of the owner's volumes after the creation. The owner's gate row must be locked.
    pub(crate) async fn claim_volume(
        &mut self,
        instance: &Instance,
        limit_gib: Option<u32>,
    ) -> Result<Claim, StoreError> {
        let (Some(storage), Some(new_name)) = (&instance.settings.storage, &instance.volume) else {
            return Ok(Claim::Claimed(None));
        };
        let (template_id, template_name) = match storage.kind {
            StorageKind::Workshop => return Ok(Claim::Claimed(None)),
            StorageKind::Kept => (Some(instance.template_id), Some(instance.settings.name.clone())),
            StorageKind::Home => (None, None),
        };
        let owner = instance.owner_email.as_str();
        let claim = query(CLAIM).bind(instance.created_at.as_millisecond()).bind(owner.to_owned());
        let claim = claim.bind(template_id.encode()?);
        if let Some(row) = claim.fetch_optional(self.connection()).await? {
            let claimed = ClaimedVolume { name: row.try_get("name")?, size: row.try_get("size")? };
            return Ok(match self.volume_used_by(&claimed.name).await? {
                Some(user) => Claim::InUse(user),
                None => Claim::Claimed(Some(claimed)),
            });
        }
        if let Some(limit_gib) = limit_gib
            && self.stored_bytes(owner).await? + bytes(storage.size.as_str()) > u128::from(limit_gib) << 30
        {
            return Ok(Claim::TooLarge { limit_gib });
        }
        let volume = Volume {
            volume_id: instance.instance_id,
            name: new_name.clone(),
            owner_email: instance.owner_email.clone(),
            template_id,
            template_name,
            size: storage.size.to_string(),
            created_at: instance.created_at,
            last_used_at: instance.created_at,
            kept_until: Some(Timestamp::UNIX_EPOCH),
        };
        volume.bind_all(query(&INSERT))?.execute(self.connection()).await?;
        Ok(Claim::Claimed(Some(ClaimedVolume { name: volume.name, size: volume.size })))
    }

    /// Returns the total size of the owner's volumes. A volume counts until its deletion is decided.
    async fn stored_bytes(&mut self, owner: &str) -> Result<u128, StoreError> {
        let rows = query(SIZES).bind(owner.to_owned()).fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok(bytes(row.try_get("size")?))).sum()
    }

    /// Records that a suspended instance uses its volume again. Returns another instance that uses it, if any: an earlier
    /// version of the launcher, which does not know suspended instances, may have launched it during an upgrade.
    pub(crate) async fn use_volume_again(
        &mut self,
        instance: &Instance,
        now: Timestamp,
    ) -> Result<Option<VolumeUser>, StoreError> {
        let missing = StoreError::Corrupt { table: "workshop_instances", row: instance.instance_id, column: "volume" };
        let Some(name) = &instance.volume else { return Err(missing) };
        let used = query(USE_AGAIN).bind(now.as_millisecond()).bind(name.clone());
        if used.execute(self.connection()).await?.rows_affected() == 0 {
            return Err(missing);
        }
        let other = query(USED_BY_OTHER).bind(name.clone()).bind(instance.k8s_name.clone());
        other.fetch_optional(self.connection()).await?.as_ref().map(user).transpose()
    }

    pub(crate) async fn volume_used_by(&mut self, name: &str) -> Result<Option<VolumeUser>, StoreError> {
        let row = query(USED_BY).bind(name.to_owned()).fetch_optional(self.connection()).await?;
        row.as_ref().map(user).transpose()
    }
}

/// Reads the columns of [`USED_BY`].
pub(crate) fn user(row: &AnyRow) -> Result<VolumeUser, StoreError> {
    let state: String = row.try_get("state")?;
    let is_suspended = state == InstanceState::Suspended.as_str();
    Ok(VolumeUser { k8s_name: row.try_get("k8s_name")?, is_suspended })
}
