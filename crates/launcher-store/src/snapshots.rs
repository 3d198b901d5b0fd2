//! Snapshots: saved by a loop, listed by their owners, and deleted by persons or after their retention.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{Act, Activity, ActivityAction, Caller, EmailAddress, Instance, Scope, Snapshot};
use sqlx::Row;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::{Page, push_page_of_owner, push_scope};
use crate::rows;
use crate::sql::{Sql, query};
use crate::store::Store;
use crate::table::{Reader, Record, Text};

/// Maximum rows that one call handles for a loop.
const PORTION: i64 = 500;
/// Instances whose end waits for their snapshot. Also instances whose snapshot has just finished.
pub(crate) const ENDING: &str = instances!(" WHERE state = 'terminating' AND snapshot IS NOT NULL LIMIT 500");
/// Running instances with a planned snapshot whose lifetime is over.
pub(crate) const OVERDUE: &str =
    instances!(" WHERE state = 'running' AND snapshot IS NOT NULL AND expires_at <= $1 LIMIT 500");
/// A second snapshot of an instance replaces the first, unless a person has deleted it.
static SAVE: LazyLock<String> = LazyLock::new(|| {
    let table = Snapshot::TABLE;
    format!("{} ON CONFLICT (snapshot_id) DO UPDATE SET {}", table.insert(), table.set_excluded())
});
/// Includes snapshots that a person has deleted: they were complete.
const SAVED: &str = "SELECT bytes FROM snapshots WHERE snapshot_id = $1";
pub(crate) const HELD: &str = "SELECT count(*) FROM snapshots WHERE owner_email = $1 AND deleted_at IS NULL";
const MARK: &str = concat!(
    "UPDATE snapshots SET deleted_at = $1 WHERE snapshot_id = $2 AND deleted_at IS NULL AND kept_until < $3 \
     RETURNING ",
    snapshots!(columns)
);
pub(crate) const OLD: &str =
    snapshots!(" WHERE deleted_at IS NULL AND created_at < $1 AND kept_until < $2 ORDER BY created_at LIMIT $3");
/// Announces a longer retention. Its condition is the index `snapshots_kept`.
pub(crate) const ANNOUNCE: &str = "UPDATE snapshots SET kept_until = created_at + $1 \
     WHERE deleted_at IS NULL AND kept_until - created_at < $1";
/// The order is random. Otherwise, objects that the object store cannot delete could fill every batch.
pub(crate) const DELETED: &str =
    "SELECT snapshot_id FROM snapshots WHERE deleted_at IS NOT NULL ORDER BY random() LIMIT $1";
const REMOVE: &str = "DELETE FROM snapshots WHERE snapshot_id = $1 AND deleted_at IS NOT NULL";

impl Store {
    /// Returns the terminating instances with a snapshot, at most 500. Skips unreadable rows.
    pub async fn snapshot_ending(&self) -> Result<Vec<Instance>, StoreError> {
        query(ENDING).read_readable(&self.pool).await
    }

    /// Returns the running instances with a planned snapshot that expired at this time or earlier, at most 500. Skips
    /// unreadable rows.
    pub async fn snapshot_overdue(&self, now: Timestamp) -> Result<Vec<Instance>, StoreError> {
        query(OVERDUE).bind(now.as_millisecond()).read_readable(&self.pool).await
    }

    /// Returns the size of a complete snapshot, in bytes, even if its deletion is decided; `None` if there is none.
    pub async fn snapshot_saved(&self, snapshot_id: Uuid) -> Result<Option<u64>, StoreError> {
        let row = query(SAVED).bind(snapshot_id.to_string()).fetch_optional(&self.pool).await?;
        row.map(|row| Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or_default())).transpose()
    }

    /// Returns the number of snapshots of a person.
    pub async fn snapshots_held(&self, owner: &EmailAddress) -> Result<u32, StoreError> {
        let row = query(HELD).bind(owner.as_str().to_owned()).fetch_one(&self.pool).await?;
        Ok(u32::try_from(row.try_get::<i64, _>(0)?).unwrap_or(u32::MAX))
    }

    /// Stores a snapshot whose archive is complete. Repeatable.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn save_snapshot(&self, snapshot: &Snapshot) -> Result<(), StoreError> {
        self.execute(snapshot.bind_all(query(&SAVE))?).await.map(drop)
    }

    /// Returns a page of the snapshots that the caller may see, newest first; with `owner`, only of this person.
    pub async fn snapshots(
        &self,
        caller: &Caller,
        owner: Option<&EmailAddress>,
        page: &Page,
    ) -> Result<Vec<Snapshot>, StoreError> {
        list(caller.scope(), owner, page).statement()?.read_all(&self.pool).await
    }

    /// Returns a snapshot if the caller may see it.
    pub async fn snapshot(&self, caller: &Caller, snapshot_id: Uuid) -> Result<Option<Snapshot>, StoreError> {
        let mut sql = select();
        sql.condition_with("snapshot_id = ", snapshot_id.to_string());
        push_scope(&mut sql, caller.scope());
        sql.statement()?.read_optional(&self.pool).await
    }

    /// Decides the deletion of a snapshot, and writes an entry of the activity log. Returns false if the caller has no such
    /// snapshot. The caller of the store must then delete the object: [`Store::purge_snapshots`].
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn delete_snapshot(&self, caller: &Caller, snapshot_id: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        if self.snapshot(caller, snapshot_id).await?.is_none() {
            return Ok(false);
        }
        self.mark(snapshot_id, Act { actor_email: Some(caller.email().clone()), at }, Timestamp::MAX).await
    }

    /// Records the time at which each snapshot is deleted after this retention, unless a later time is recorded.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was written.
    pub async fn announce_snapshot_retention(&self, retention: SignedDuration) -> Result<(), StoreError> {
        self.execute(query(ANNOUNCE).bind(rows::retention_millis(retention))).await.map(drop)
    }

    /// Decides the deletion of the snapshots that were saved before this time, and whose announced deletion time has
    /// passed at `now`, with entries of the activity log. Returns the number of deleted snapshots.
    ///
    /// # Errors
    /// [`StoreError`]. The decisions before the error stay.
    pub async fn purge_old_snapshots(&self, before: Timestamp, now: Timestamp) -> Result<u64, StoreError> {
        let old = query(OLD).bind(before.as_millisecond()).bind(now.as_millisecond()).bind(PORTION);
        let old: Vec<Snapshot> = old.read_readable(&self.pool).await?;
        let mut deleted = 0;
        for snapshot in old {
            // Another launcher may have announced a later time since the list.
            deleted += u64::from(self.mark(snapshot.snapshot_id, Act { actor_email: None, at: now }, now).await?);
        }
        Ok(deleted)
    }

    /// Returns false if the snapshot is already deleted, or if its announced deletion is not before `announced_before`.
    async fn mark(&self, snapshot_id: Uuid, act: Act, announced_before: Timestamp) -> Result<bool, StoreError> {
        let mut write = self.write().await?;
        let mark = query(MARK).bind(act.at.as_millisecond()).bind(snapshot_id.to_string());
        let mark = mark.bind(announced_before.as_millisecond());
        let Some(snapshot) = mark.read_optional(write.connection()).await? else { return Ok(false) };
        let revision = write.take_revisions(1).await?;
        write.log_activity(revision, &Activity::of_snapshot(ActivityAction::VolumeDeleted, &snapshot, act)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Returns the snapshots whose deletion is decided, at most 500, in random order.
    pub async fn purge_snapshots(&self) -> Result<Vec<Uuid>, StoreError> {
        let rows = query(DELETED).bind(PORTION).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok(Reader::new::<Text>(row, "snapshots", "snapshot_id")?.id)).collect()
    }

    /// Removes the row of a snapshot whose object is deleted.
    pub async fn purge_snapshot(&self, snapshot_id: Uuid) -> Result<(), StoreError> {
        self.execute(query(REMOVE).bind(snapshot_id.to_string())).await.map(drop)
    }
}

/// Builds the query of a list, newest first.
pub(crate) fn list(scope: Scope<'_>, owner: Option<&EmailAddress>, page: &Page) -> Sql {
    let mut sql = select();
    push_page_of_owner(&mut sql, scope, owner, page, ["snapshot_id < ", " ORDER BY snapshot_id DESC LIMIT "]);
    sql
}

/// Begins a query for snapshots whose deletion is not decided.
fn select() -> Sql {
    let mut sql = Sql::new(snapshots!());
    sql.condition("deleted_at IS NULL");
    sql
}
