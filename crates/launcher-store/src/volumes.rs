//! Volumes: claimed by launches, listed by their owners, and deleted by persons or after their retention.
//!
//! A claim and a deletion both first update the volume's row, which locks it. Each therefore sees the result of the
//! other: a volume is never deleted while an instance uses it.

use jiff::Timestamp;
use launcher_domain::quantity::Quantity;
use launcher_domain::{Act, Activity, Caller, EmailAddress, Instance, Scope, StorageKind, Volume};
use sqlx::Row;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::filter::push_scope;
use crate::page::Page;
use crate::rows::{self, volume_columns};
use crate::sql::{Sql, query};
use crate::store::Store;
use crate::write::WriteTransaction;

/// Maximum volumes that one call handles for a loop.
const PORTION: i64 = 100;
const CLAIM: &str = "UPDATE volumes SET last_used_at = $1 WHERE owner_email = $2 AND template_id = $3 \
                     AND deleted_at IS NULL RETURNING name";
const INSERT: &str = concat!("INSERT INTO volumes (", volume_columns!(), ") VALUES ($1, $2, $3, $4, $5, $6, $7, $7)");
/// The instance that uses a volume. Its condition is that of the index `workshop_instances_volume`.
macro_rules! used_by {
    ($volume:literal) => {
        concat!(
            "SELECT used.k8s_name FROM workshop_instances AS used WHERE used.volume = ",
            $volume,
            " AND used.volume IS NOT NULL AND used.state IN ('queued', 'starting', 'running', 'terminating') LIMIT 1"
        )
    };
}
pub(crate) const USED_BY: &str = used_by!("$1");
const SIZES: &str = "SELECT size FROM volumes WHERE owner_email = $1 AND deleted_at IS NULL";
const LOCK: &str = concat!(
    "UPDATE volumes SET last_used_at = last_used_at WHERE name = $1 AND deleted_at IS NULL RETURNING ",
    volume_columns!()
);
const MARK: &str = "UPDATE volumes SET deleted_at = $1 WHERE name = $2";
const REMOVE: &str = "DELETE FROM volumes WHERE name = $1 AND deleted_at IS NOT NULL";
pub(crate) const UNUSED: &str = concat!(
    "SELECT ",
    volume_columns!(),
    " FROM volumes WHERE deleted_at IS NULL AND last_used_at < $1 ORDER BY last_used_at LIMIT $2"
);
pub(crate) const DELETED: &str = "SELECT name FROM volumes WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT $1";
pub(crate) const TOUCH: &str = "UPDATE volumes SET last_used_at = $1 WHERE deleted_at IS NULL AND last_used_at < $2 \
     AND EXISTS (SELECT 1 FROM workshop_instances AS used WHERE used.volume = volumes.name \
     AND used.volume IS NOT NULL AND used.state IN ('queued', 'starting', 'running', 'terminating'))";

/// Result of a claim.
pub(crate) enum Claim {
    /// The instance may use this volume; `None` if its template keeps no files.
    Claimed(Option<String>),
    /// Another instance uses the volume.
    InUse { k8s_name: String },
    /// A new volume would exceed the owner's limit.
    TooLarge { limit_gib: u32 },
}

/// A volume, and the instance that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVolume {
    /// The volume.
    pub volume: Volume,
    /// Name of the instance that uses the volume; `None` if none does.
    pub used_by: Option<String>,
}

/// Outcome of the deletion of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VolumeDeletion {
    /// The deletion is decided: launches do not use the volume any more.
    Decided,
    /// The caller has no such volume.
    NotFound,
    /// An instance uses the volume.
    InUse {
        /// Name of that instance.
        k8s_name: String,
    },
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
        let (owner, now) = (instance.owner_email.as_str(), instance.created_at.as_millisecond());
        let (template_id, template_name) = match storage.kind {
            StorageKind::Workshop => return Ok(Claim::Claimed(None)),
            StorageKind::Kept => (instance.template_id.to_string(), Some(rows::text(&instance.settings.name))),
            StorageKind::Home => (String::new(), None),
        };
        let claim = query(CLAIM).bind(now).bind(owner.to_owned()).bind(template_id.clone());
        if let Some(row) = claim.fetch_optional(self.connection()).await? {
            let name: String = row.try_get("name")?;
            return Ok(match self.volume_used_by(&name).await? {
                Some(k8s_name) => Claim::InUse { k8s_name },
                None => Claim::Claimed(Some(name)),
            });
        }
        if let Some(limit_gib) = limit_gib
            && self.stored_bytes(owner).await? + bytes(storage.size.as_str()) > u128::from(limit_gib) << 30
        {
            return Ok(Claim::TooLarge { limit_gib });
        }
        query(INSERT)
            .bind(instance.instance_id.to_string())
            .bind(new_name.clone())
            .bind(owner.to_owned())
            .bind(template_id)
            .bind(template_name)
            .bind(storage.size.to_string())
            .bind(now)
            .execute(self.connection())
            .await?;
        Ok(Claim::Claimed(Some(new_name.clone())))
    }

    /// Returns the total size of the owner's volumes. A volume counts until its deletion is decided.
    async fn stored_bytes(&mut self, owner: &str) -> Result<u128, StoreError> {
        let rows = query(SIZES).bind(owner.to_owned()).fetch_all(self.connection()).await?;
        rows.iter().map(|row| Ok(bytes(row.try_get("size")?))).sum()
    }

    async fn volume_used_by(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let user = query(USED_BY).bind(name.to_owned()).fetch_optional(self.connection()).await?;
        Ok(user.map(|row| row.try_get(0)).transpose()?)
    }
}

impl Store {
    /// Returns a page of the volumes that the caller may see, newest first; with `owner`, only of this person.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn volumes(
        &self,
        caller: &Caller,
        owner: Option<&EmailAddress>,
        page: &Page,
    ) -> Result<Vec<ListedVolume>, StoreError> {
        let rows = list(caller.scope(), owner, page).fetch_all(&self.pool).await?;
        rows::all(&rows, listed)
    }

    /// Returns the volume with this name if the caller may see it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn volume(&self, caller: &Caller, name: &str) -> Result<Option<ListedVolume>, StoreError> {
        let mut sql = select();
        sql.condition_with("name = ", name.to_owned());
        push_scope(&mut sql, caller.scope());
        let row = sql.fetch_optional(&self.pool).await?;
        row.as_ref().map(listed).transpose()
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

    /// Decides the deletion of the volumes that were last used before this time, with entries of the activity log. Skips
    /// volumes that an instance uses. Returns the number of deleted volumes.
    ///
    /// # Errors
    /// [`StoreError`]. The decisions before the error stay.
    pub async fn purge_unused_volumes(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
        let unused = query(UNUSED).bind(before.as_millisecond()).bind(PORTION).fetch_all(&self.pool).await?;
        let act = Act { actor_email: None, at: now };
        let mut deleted = 0;
        for volume in unused.iter().filter_map(|row| rows::reported(rows::volume(row))) {
            let decided = self.decide_deletion(&volume.name, &act, |volume| volume.last_used_at < before).await?;
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
        let row = query(LOCK).bind(name.to_owned()).fetch_optional(write.connection()).await?;
        let Some(volume) = row.as_ref().map(rows::volume).transpose()?.filter(is_permitted) else {
            return Ok(VolumeDeletion::NotFound);
        };
        if let Some(k8s_name) = write.volume_used_by(name).await? {
            return Ok(VolumeDeletion::InUse { k8s_name });
        }
        query(MARK).bind(act.at.as_millisecond()).bind(name.to_owned()).execute(write.connection()).await?;
        let revision = write.take_revisions(1).await?;
        write.log_activity(revision, &Activity::of_deleted_volume(&volume, act.clone())).await?;
        write.commit().await?;
        Ok(VolumeDeletion::Decided)
    }

    /// Returns the names of volumes whose deletion is decided, oldest decision first, at most 100.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn purge_volumes(&self) -> Result<Vec<String>, StoreError> {
        let rows = query(DELETED).bind(PORTION).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok(row.try_get("name")?)).collect()
    }

    /// Removes the row of a volume whose files the fleet has deleted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn purge_volume(&self, name: &str) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        query(REMOVE).bind(name.to_owned()).execute(write.connection()).await?;
        write.commit().await
    }

    /// Sets the last use of the volumes that an instance uses to `now`, if it is before `stale`. Returns the number of
    /// changed volumes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn observe_used_volumes(&self, now: Timestamp, stale: Timestamp) -> Result<u64, StoreError> {
        let mut write = self.write().await?;
        let touch = query(TOUCH).bind(now.as_millisecond()).bind(stale.as_millisecond());
        let touched = touch.execute(write.connection()).await?.rows_affected();
        write.commit().await?;
        Ok(touched)
    }
}

/// Builds the query of a list, newest first.
pub(crate) fn list(scope: Scope<'_>, owner: Option<&EmailAddress>, page: &Page) -> Sql {
    let mut sql = select();
    push_scope(&mut sql, scope);
    if let Some(owner) = owner {
        push_scope(&mut sql, Scope::Owner(owner));
    }
    if let Some(after) = page.after {
        sql.condition_with("volume_id < ", after.to_string());
    }
    sql.push(" ORDER BY volume_id DESC LIMIT ");
    sql.bind(i64::from(page.limit));
    sql
}

/// Begins a query for volumes whose deletion is not decided.
fn select() -> Sql {
    let mut sql =
        Sql::new(concat!("SELECT ", volume_columns!(), ", (", used_by!("volumes.name"), ") AS used_by FROM volumes"));
    sql.condition("deleted_at IS NULL");
    sql
}

fn listed(row: &AnyRow) -> Result<ListedVolume, StoreError> {
    Ok(ListedVolume { volume: rows::volume(row)?, used_by: row.try_get("used_by")? })
}
