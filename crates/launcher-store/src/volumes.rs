//! Volumes: claimed by launches, listed by their owners, and deleted by persons or after their retention.
//!
//! A claim and a deletion both first update the volume's row, which locks it. Each therefore sees the result of the
//! other: a volume is never deleted while an instance uses it.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::quantity::Quantity;
use launcher_domain::{
    Act, Activity, ActivityAction, Caller, EmailAddress, Instance, InstanceState, Scope, StorageKind, TemplateSettings,
    Volume,
};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::filter::{Page, push_page_of_owner, push_scope};
use crate::rows;
use crate::sql::{Sql, query};
use crate::store::{Store, WriteTransaction};
use crate::table::{FromRow, Record, Stored};

/// The instance that uses a volume, which further conditions may follow. Its own condition is that of the index
/// `workshop_instances_volume`.
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

/// Maximum volumes that one call handles for a loop.
const PORTION: i64 = 100;
const LOCK: &str = concat!(
    "UPDATE volumes SET last_used_at = last_used_at WHERE name = $1 AND deleted_at IS NULL RETURNING ",
    volumes!(columns)
);
const MARK: &str = "UPDATE volumes SET deleted_at = $1 WHERE name = $2";
const REMOVE: &str = "DELETE FROM volumes WHERE name = $1 AND deleted_at IS NOT NULL";
pub(crate) const UNUSED: &str =
    volumes!(" WHERE deleted_at IS NULL AND last_used_at < $1 AND kept_until < $2 ORDER BY last_used_at LIMIT $3");
/// Announces the deletion of volumes that were used, or whose retention is longer now. Their condition is the index
/// `volumes_kept`.
pub(crate) const ANNOUNCE: &str = "UPDATE volumes SET kept_until = last_used_at + $1 \
     WHERE deleted_at IS NULL AND kept_until - last_used_at < $1";
/// The same for volumes that were kept without end. Their retention begins now.
pub(crate) const ANNOUNCE_FIRST: &str =
    "UPDATE volumes SET kept_until = $1 WHERE deleted_at IS NULL AND kept_until - last_used_at IS NULL";
pub(crate) const KEEP: &str =
    "UPDATE volumes SET kept_until = NULL WHERE deleted_at IS NULL AND kept_until - last_used_at IS NOT NULL";
/// The order is random. Otherwise, volumes that the fleet cannot delete could fill every batch.
pub(crate) const DELETED: &str =
    "SELECT name, namespace FROM volumes WHERE deleted_at IS NOT NULL ORDER BY random() LIMIT $1";
/// A suspended instance holds its volume, but does not use it. Without the other states, SQLite would not use the index.
pub(crate) const TOUCH: &str = concat!(
    "UPDATE volumes SET last_used_at = $1 WHERE deleted_at IS NULL AND last_used_at < $2 AND EXISTS (",
    used_by!("1", "volumes.name AND used.state <> 'suspended'"),
    ")"
);

/// A volume, and the instance that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVolume {
    pub volume: Volume,
    /// The instance that uses the volume; `None` if none does.
    pub used_by: Option<VolumeUser>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VolumeDeletion {
    /// The deletion is decided: launches do not use the volume any more.
    Decided,
    NotFound,
    InUse(VolumeUser),
}

impl Store {
    /// Returns a page of the volumes that the caller may see, newest first; with `owner`, only of this person.
    pub async fn volumes(
        &self,
        caller: &Caller,
        owner: Option<&EmailAddress>,
        page: &Page,
    ) -> Result<Vec<ListedVolume>, StoreError> {
        list(caller.scope(), owner, page).statement()?.read_all(&self.pool).await
    }

    /// Returns the volume with this name if the caller may see it.
    pub async fn volume(&self, caller: &Caller, name: &str) -> Result<Option<ListedVolume>, StoreError> {
        let mut sql = select();
        sql.condition_with("name = ", name.to_owned());
        push_scope(&mut sql, caller.scope());
        sql.statement()?.read_optional(&self.pool).await
    }

    /// Decides the deletion of a volume, and writes an entry of the activity log, unless an instance uses the volume. The
    /// caller of the store must then delete the files: [`Store::purge_volumes`].
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn delete_volume(
        &self,
        caller: &Caller,
        name: &str,
        at: Timestamp,
    ) -> Result<VolumeDeletion, StoreError> {
        let act = Act { actor_email: Some(caller.email().clone()), at };
        self.decide_deletion(name, &act, |volume| caller.scope().includes(&volume.owner_email)).await
    }

    /// Records the time at which each volume is deleted after this retention, unless a later time is recorded. `None`: the
    /// volumes are kept without end.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn announce_retention(
        &self,
        retention: Option<SignedDuration>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        match retention.map(rows::retention_millis) {
            None => {
                query(KEEP).execute(write.connection()).await?;
            }
            Some(retention) => {
                query(ANNOUNCE).bind(retention).execute(write.connection()).await?;
                let first = now.as_millisecond().saturating_add(retention);
                query(ANNOUNCE_FIRST).bind(first).execute(write.connection()).await?;
            }
        }
        write.commit().await
    }

    /// Decides the deletion of the volumes that were last used before this time, and whose announced deletion time has
    /// passed at `now`, with entries of the activity log. Skips volumes that an instance uses. Returns the number of
    /// deleted volumes.
    ///
    /// # Errors
    /// [`StoreError`]. The decisions before the error stay.
    pub async fn purge_unused_volumes(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
        let unused = query(UNUSED).bind(before.as_millisecond()).bind(now.as_millisecond()).bind(PORTION);
        let unused: Vec<Volume> = unused.read_readable(&self.pool).await?;
        let act = Act { actor_email: None, at: now };
        let mut deleted = 0;
        for volume in unused {
            // Another launcher may have changed the row since the list.
            let is_over = |volume: &Volume| volume.kept_until.is_some_and(|announced| announced < now);
            let is_unused = |volume: &Volume| volume.last_used_at < before && is_over(volume);
            let decided = self.decide_deletion(&volume.name, &act, is_unused).await?;
            deleted += u64::from(decided == VolumeDeletion::Decided);
        }
        Ok(deleted)
    }

    async fn decide_deletion(
        &self,
        name: &str,
        act: &Act,
        is_permitted: impl Fn(&Volume) -> bool,
    ) -> Result<VolumeDeletion, StoreError> {
        let mut write = self.write().await?;
        // The counter before the volume: a launch locks them in this order.
        write.take_revisions(0).await?;
        let locked = query(LOCK).bind(name.to_owned()).read_optional(write.connection()).await?;
        let Some(volume) = locked.filter(is_permitted) else {
            return Ok(VolumeDeletion::NotFound);
        };
        if let Some(user) = write.volume_used_by(name).await? {
            return Ok(VolumeDeletion::InUse(user));
        }
        query(MARK).bind(act.at.as_millisecond()).bind(name.to_owned()).execute(write.connection()).await?;
        let revision = write.take_revisions(1).await?;
        write.log_activity(revision, &Activity::of_volume(ActivityAction::VolumeDeleted, &volume, act.clone())).await?;
        write.commit().await?;
        Ok(VolumeDeletion::Decided)
    }

    /// Returns names and namespaces of volumes whose deletion is decided, at most 100, in random order.
    pub async fn purge_volumes(&self) -> Result<Vec<(String, Option<String>)>, StoreError> {
        let rows = query(DELETED).bind(PORTION).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("namespace")?))).collect()
    }

    /// Removes the row of a volume whose files the fleet has deleted.
    pub async fn purge_volume(&self, name: &str) -> Result<(), StoreError> {
        self.execute(query(REMOVE).bind(name.to_owned())).await.map(drop)
    }

    /// Sets the last use of the volumes that an instance uses, unless it is suspended, to `now`, if it is before `stale`. Returns the number of
    /// changed volumes.
    pub async fn observe_used_volumes(&self, now: Timestamp, stale: Timestamp) -> Result<u64, StoreError> {
        self.execute(query(TOUCH).bind(now.as_millisecond()).bind(stale.as_millisecond())).await
    }
}

/// Builds the query of a list, newest first.
pub(crate) fn list(scope: Scope<'_>, owner: Option<&EmailAddress>, page: &Page) -> Sql {
    let mut sql = select();
    push_page_of_owner(&mut sql, scope, owner, page, ["volume_id < ", " ORDER BY volume_id DESC LIMIT "]);
    sql
}

/// Begins a query for volumes whose deletion is not decided.
fn select() -> Sql {
    let mut sql = Sql::new(concat!(
        "SELECT ",
        volumes!(columns),
        ", (",
        used_by!("used.k8s_name", "volumes.name"),
        ") AS k8s_name, (",
        used_by!("used.state", "volumes.name"),
        ") AS state FROM volumes"
    ));
    sql.condition("deleted_at IS NULL");
    sql
}

impl FromRow for ListedVolume {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let is_used = row.try_get::<Option<String>, _>("k8s_name")?.is_some();
        Ok(Self { volume: Volume::read(row)?, used_by: is_used.then(|| VolumeUser::read(row)).transpose()? })
    }
}

const CLAIM: &str = concat!(
    "UPDATE volumes SET last_used_at = $1 WHERE owner_email = $2 AND template_id = $3 AND deleted_at IS NULL RETURNING ",
    volumes!(columns)
);
static INSERT: LazyLock<String> = LazyLock::new(|| Volume::TABLE.insert());

pub(crate) const USED_BY: &str = used_by!("used.k8s_name, used.state", "$1");
/// Another instance than `$2` that uses a volume.
pub(crate) const USED_BY_OTHER: &str = used_by!("used.k8s_name, used.state", "$1 AND used.k8s_name <> $2");
const USE_AGAIN: &str = "UPDATE volumes SET last_used_at = $1 WHERE name = $2 AND deleted_at IS NULL";

const SIZES: &str = "SELECT size FROM volumes WHERE owner_email = $1 AND deleted_at IS NULL";

pub(crate) enum Claim {
    /// The instance may use this volume; `None` if its template has no storage.
    Claimed(Option<Volume>),
    InUse(VolumeUser),
    /// A new volume would exceed the owner's limit.
    TooLarge {
        limit_gib: u32,
    },
}

/// Returns the settings of an instance with the size of its volume, which the template may have changed since. The fleet may
/// create the volume only now, and the limit of the owner counts this size.
pub(crate) fn resized(settings: &TemplateSettings, volume: &Volume) -> TemplateSettings {
    let mut settings = settings.clone();
    if let (Some(storage), Ok(size)) = (&mut settings.storage, Quantity::parse(&volume.size)) {
        storage.size = size;
    }
    settings
}

/// The instance that uses a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeUser {
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
        if let Some(claimed) = claim.read_optional::<Volume>(self.connection()).await? {
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
            namespace: instance.namespace.clone(),
            size: storage.size.to_string(),
            created_at: instance.created_at,
            last_used_at: instance.created_at,
            kept_until: Some(Timestamp::UNIX_EPOCH),
        };
        volume.bind_all(query(&INSERT))?.execute(self.connection()).await?;
        Ok(Claim::Claimed(Some(volume)))
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
        other.read_optional(self.connection()).await
    }

    pub(crate) async fn volume_used_by(&mut self, name: &str) -> Result<Option<VolumeUser>, StoreError> {
        query(USED_BY).bind(name.to_owned()).read_optional(self.connection()).await
    }
}

impl FromRow for VolumeUser {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let state: String = row.try_get("state")?;
        Ok(Self { k8s_name: row.try_get("k8s_name")?, is_suspended: state == InstanceState::Suspended.as_str() })
    }
}
