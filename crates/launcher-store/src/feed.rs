//! What changed, in the order in which it changed: the event stream; and who waits in line.

use launcher_domain::Scope;
use sqlx::Row;
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

impl Store {
    /// The instances within the scope that changed after this revision, in the order of their last change. Each comes
    /// once, as it is now: what happened in between two changes of one row is not kept. A row that cannot be read is
    /// passed over.
    ///
    /// Resume with the revision of the last row; nothing that was committed before it is still to come.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn feed_since(&self, scope: Scope<'_>, revision: i64, limit: u32) -> Result<Vec<Listed>, StoreError> {
        let rows = since(scope, revision, limit).fetch_all(&self.pool).await?;
        Ok(rows.iter().filter_map(|row| rows::reported(rows::listed(row))).collect())
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

pub(crate) fn since(scope: Scope<'_>, revision: i64, limit: u32) -> Sql {
    let mut sql = Sql::new(concat!("SELECT ", listed_columns!(), " FROM workshop_instances"));
    within(&mut sql, scope);
    sql.condition_with("revision > ", revision);
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
