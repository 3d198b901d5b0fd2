//! What changed, in the order in which it changed: the event stream; and who waits in line.

use launcher_domain::Scope;
use sqlx::Row;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::Store;
use crate::error::StoreError;
use crate::instances::within;
use crate::rows::{self, Listed, instance_columns, listed_columns};
use crate::sql::{Sql, query};

pub(crate) const LATEST: &str = "SELECT revision FROM change_counter WHERE counter_id = 1";
/// Places are counted in the order of the rows: a count for each would cost the square of the line's length.
pub(crate) const QUEUE: &str =
    concat!("SELECT ", instance_columns!(), " FROM workshop_instances WHERE state = 'queued' ORDER BY launch_number");
pub(crate) const LINE: &str =
    "SELECT instance_id FROM workshop_instances WHERE state = 'queued' ORDER BY launch_number";

/// What changed behind a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// In the order of their last change. A row that cannot be read is passed over.
    pub listed: Vec<Listed>,
    /// Up to which revision this tells everything: where to go on.
    pub upto: i64,
    /// Whether there may be more.
    pub more: bool,
}

impl Store {
    /// The instances within the scope that changed after this revision, in the order of their last change. Each comes
    /// once, as it is now: what happened in between two changes of one row is not kept.
    ///
    /// Nothing that was committed before the last of them is still to come.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn feed_since(&self, scope: Scope<'_>, revision: i64, limit: u32) -> Result<Changes, StoreError> {
        let rows = since(scope, revision, limit).fetch_all(&self.pool).await?;
        changes(&rows, rows::listed, revision, limit)
    }

    /// The instances within the scope that have neither ended nor wait in line, and whose last change is behind `revision`
    /// and not behind `latest`, in the order of their last change.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn feed_live(
        &self,
        scope: Scope<'_>,
        revision: i64,
        latest: i64,
        limit: u32,
    ) -> Result<Changes, StoreError> {
        let rows = live(scope, revision, latest, limit).fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| Ok(Listed { instance: rows::instance(row)?, queue_position: None });
        changes(&rows, read, revision, limit)
    }

    /// The revision of the latest change; 0 when nothing ever changed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn feed_latest(&self) -> Result<i64, StoreError> {
        Ok(query(LATEST).fetch_one(&self.pool).await?.try_get(0)?)
    }

    /// The queued instances within the scope, the next one first, each with its place. A row that cannot be read is
    /// passed over.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn queue(&self, scope: Scope<'_>) -> Result<Vec<Listed>, StoreError> {
        if let Scope::Owner(_) = scope {
            let rows = queue_of(scope).fetch_all(&self.pool).await?;
            return Ok(rows.iter().filter_map(|row| rows::reported(rows::listed(row))).collect());
        }
        let rows = query(QUEUE).fetch_all(&self.pool).await?;
        let places = rows.iter().zip(1..);
        let read = places.filter_map(|(row, place)| {
            let instance = rows::reported(rows::instance(row))?;
            Some(Listed { instance, queue_position: Some(place) })
        });
        Ok(read.collect())
    }

    /// Who waits, the next one first: [`Store::queue`] of everybody, at a small part of its cost.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn queue_line(&self) -> Result<Vec<Uuid>, StoreError> {
        let rows = query(LINE).fetch_all(&self.pool).await?;
        Ok(rows.iter().filter_map(|row| rows::reported(rows::instance_id(row))).collect())
    }
}

/// What these rows tell. Also one that cannot be read is a step on the way: whoever stayed before it would read it again.
fn changes(
    rows: &[AnyRow],
    read: fn(&AnyRow) -> Result<Listed, StoreError>,
    behind: i64,
    limit: u32,
) -> Result<Changes, StoreError> {
    let last = rows.last().map(|row| row.try_get("revision")).transpose()?;
    Ok(Changes {
        listed: rows.iter().filter_map(|row| rows::reported(read(row))).collect(),
        upto: last.unwrap_or(behind),
        more: rows.len() >= limit as usize,
    })
}

pub(crate) fn since(scope: Scope<'_>, revision: i64, limit: u32) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", listed_columns!(), " FROM workshop_instances"));
    within(&mut sql, scope);
    sql.condition_with("revision > ", revision);
    sql.push(" ORDER BY revision LIMIT ");
    sql.bind(i64::from(limit));
    sql
}

/// The first two conditions are those of an index, letter by letter: SQLite uses a partial index only then.
pub(crate) fn live(scope: Scope<'_>, revision: i64, latest: i64, limit: u32) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", instance_columns!(), " FROM workshop_instances"));
    sql.condition("state <> 'terminated'");
    sql.condition("state <> 'queued'");
    within(&mut sql, scope);
    sql.condition_with("revision > ", revision);
    sql.condition_with("revision <= ", latest);
    sql.push(" ORDER BY revision LIMIT ");
    sql.bind(i64::from(limit));
    sql
}

/// One owner's are few: each counts who is ahead of it.
pub(crate) fn queue_of(scope: Scope<'_>) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", listed_columns!(), " FROM workshop_instances"));
    within(&mut sql, scope);
    sql.condition("state = 'queued'");
    sql.push(" ORDER BY instance_id");
    sql
}
