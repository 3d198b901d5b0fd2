//! Queries of the feed: changed instances in commit order, and the queue.

use launcher_domain::{Instance, Scope};
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::error::StoreError;
use crate::filter::push_scope;
use crate::rows::{self, ListedInstance};
use crate::sql::{Sql, query};
use crate::store::Store;
use crate::table::{FromRow, Reader, Text};

pub(crate) const LATEST: &str = "SELECT revision FROM change_counter WHERE counter_id = 1";
/// Queued instances in queue order. The reader counts the queue positions, because a count in SQL for each row would be
/// quadratic in the queue's length.
pub(crate) const QUEUE: &str = instances!(" WHERE state = 'queued' ORDER BY queue_number");
pub(crate) const QUEUED_IDS: &str =
    "SELECT instance_id FROM workshop_instances WHERE state = 'queued' ORDER BY queue_number";

pub(crate) const CHANGED: &str = "SELECT class_id, changed FROM classes WHERE changed > $1 ORDER BY changed";

/// Instances that changed after a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Ordered by last change. Unreadable rows are skipped.
    pub listed: Vec<ListedInstance>,
    /// Cursor of the next read. All changes up to this revision are included.
    pub upto: i64,
    /// True if there may be more changes.
    pub more: bool,
}

impl Store {
    /// Returns the instances within the scope that changed after this revision, ordered by last change. Each appears
    /// once, in its current state: intermediate states are not kept.
    ///
    /// Revisions are committed in order: a change with a revision before the last returned one cannot appear later.
    pub async fn feed_since(&self, scope: Scope<'_>, revision: i64, limit: u32) -> Result<Changes, StoreError> {
        let rows = since(scope, revision, limit).statement()?.fetch_all(&self.pool).await?;
        changes(&rows, ListedInstance::read, revision, limit)
    }

    /// Returns the instances within the scope that are neither terminated nor queued, and whose last change is after
    /// `revision` and not after `latest`. Ordered by last change.
    pub async fn feed_live(
        &self,
        scope: Scope<'_>,
        revision: i64,
        latest: i64,
        limit: u32,
    ) -> Result<Changes, StoreError> {
        let rows = live(scope, revision, latest, limit).statement()?.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| Instance::read(row).map(ListedInstance::from);
        changes(&rows, read, revision, limit)
    }

    /// Returns the classes whose content, members or messages changed after this revision, each with the revision of its last
    /// change, in the order of these. Skips unreadable rows.
    pub async fn feed_classes(&self, revision: i64) -> Result<Vec<(Uuid, i64)>, StoreError> {
        let rows = query(CHANGED).bind(revision).fetch_all(&self.pool).await?;
        let read =
            |row: &AnyRow| Some((Uuid::try_parse(row.try_get("class_id").ok()?).ok()?, row.try_get("changed").ok()?));
        Ok(rows.iter().filter_map(read).collect())
    }

    /// Returns the revision of the latest change; 0 before the first change.
    pub async fn feed_latest(&self) -> Result<i64, StoreError> {
        Ok(query(LATEST).fetch_one(&self.pool).await?.try_get(0)?)
    }

    /// Returns the queued instances within the scope in queue order, each with its queue position. Skips unreadable
    /// rows.
    pub async fn queue(&self, scope: Scope<'_>) -> Result<Vec<ListedInstance>, StoreError> {
        if let Scope::Owner(_) = scope {
            let mut queue: Vec<ListedInstance> = queue_of(scope).statement()?.read_readable(&self.pool).await?;
            // Sort by queue position, not by identifier: identifiers depend on the clocks of the replicas.
            queue.sort_by_key(|listed| listed.queue_position);
            return Ok(queue);
        }
        let rows = query(QUEUE).fetch_all(&self.pool).await?;
        let positions = rows.iter().zip(1..);
        let read = positions.filter_map(|(row, position)| {
            let instance = rows::reported(Instance::read(row))?;
            Some(ListedInstance { queue_position: Some(position), ..ListedInstance::from(instance) })
        });
        Ok(read.collect())
    }

    /// Returns the identifiers of all queued instances in queue order, at a small part of the cost of [`Store::queue`].
    pub async fn queued_ids(&self) -> Result<Vec<Uuid>, StoreError> {
        let rows = query(QUEUED_IDS).fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| Ok(Reader::new::<Text>(row, "workshop_instances", "instance_id")?.id);
        Ok(rows.iter().filter_map(|row| rows::reported(read(row))).collect())
    }
}

/// Converts rows to changes. An unreadable row also advances `upto`, so that the next read does not return it again.
fn changes(
    rows: &[AnyRow],
    read: fn(&AnyRow) -> Result<ListedInstance, StoreError>,
    revision: i64,
    limit: u32,
) -> Result<Changes, StoreError> {
    let last = rows.last().map(|row| row.try_get("revision")).transpose()?;
    Ok(Changes {
        listed: rows.iter().filter_map(|row| rows::reported(read(row))).collect(),
        upto: last.unwrap_or(revision),
        more: rows.len() >= limit as usize,
    })
}

pub(crate) fn since(scope: Scope<'_>, revision: i64, limit: u32) -> Sql {
    let mut sql = Sql::new(listed_instances!());
    push_scope(&mut sql, scope);
    sql.condition_with("revision > ", revision);
    sql.push_with(" ORDER BY revision LIMIT ", i64::from(limit));
    sql
}

/// Builds the query of [`Store::feed_live`]. Its first two conditions must match the index predicate exactly, otherwise
/// SQLite does not use the partial index.
pub(crate) fn live(scope: Scope<'_>, revision: i64, latest: i64, limit: u32) -> Sql {
    let mut sql = Sql::new(instances!());
    sql.condition("state <> 'terminated'");
    sql.condition("state <> 'queued'");
    push_scope(&mut sql, scope);
    sql.condition_with("revision > ", revision);
    sql.condition_with("revision <= ", latest);
    sql.push_with(" ORDER BY revision LIMIT ", i64::from(limit));
    sql
}

/// Builds the query for the queued instances of one owner, unsorted. SQL counts the position of each row, because an
/// owner has few queued instances.
pub(crate) fn queue_of(scope: Scope<'_>) -> Sql {
    let mut sql = Sql::new(listed_instances!());
    push_scope(&mut sql, scope);
    sql.condition("state = 'queued'");
    sql
}
