//! Copies all rows into another, empty database: moves a launcher from SQLite to PostgreSQL, or back.

use launcher_domain::{Class, ClassMessage, Hand, Instance, JoinLink, Membership, Snapshot, Template, Volume};
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::error::StoreError;
use crate::rows::LoggedActivity;
use crate::sql::{Statement, in_time, query};
use crate::store::{Store, WriteTransaction};
use crate::table::{Column, Number, Record, Table, Text, Written};

/// Rows per batch.
const PORTION: i64 = 500;
const COUNTER: &str = "UPDATE change_counter SET revision = $1 WHERE counter_id = 1";

/// Tables in foreign-key order. The list omits the change counter, because both databases already have its single row.
const TABLES: [Table; 14] = [
    Class::TABLE,
    Membership::TABLE,
    Table { key: "class_id, email", ..Hand::TABLE },
    ClassMessage::TABLE,
    JoinLink::TABLE,
    Template::TABLE,
    Table { name: "template_settings", key: "settings_hash", columns: &[text("settings_hash"), text("settings")] },
    Instance::TABLE,
    Table {
        name: "idempotency_keys",
        key: "owner_email, idempotency_key",
        columns: &[
            text("owner_email"),
            text("idempotency_key"),
            text("body_hash"),
            text("k8s_name"),
            number("created_at"),
        ],
    },
    LoggedActivity::TABLE,
    Table {
        name: "launch_gate",
        key: "owner_email",
        columns: &[text("owner_email"), number("launches"), number("full_at")],
    },
    Volume::TABLE,
    Snapshot::TABLE,
    Table { name: BINDING, key: "binding_id", columns: &[number("binding_id"), text("fleet")] },
];

const fn text(name: &'static str) -> Column {
    Column::new::<Text>(name, Written::Once)
}

const fn number(name: &'static str) -> Column {
    Column::new::<Number>(name, Written::Once)
}

/// Table with the identity of the fleet to which the rows are bound.
const BINDING: &str = "fleet_binding";

/// Handling of the fleet binding in the copied database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetBinding {
    Keep,
    /// Clears the binding. The first service that uses the copy binds it to its own fleet.
    Clear,
}

impl Store {
    /// Copies all rows of one snapshot into another database, which must be empty. Copies all of them or none. Returns
    /// the number of rows per table.
    ///
    /// Stop the launchers first: this function does not lock this database, so it does not copy rows that a launcher
    /// writes in the meantime.
    ///
    /// # Errors
    /// [`StoreError::NothingToCopy`] when this database has no rows, [`StoreError::NotEmpty`] when the other one has
    /// rows, [`StoreError::Other`] when row counts differ after the copy; otherwise [`StoreError`]. Nothing was
    /// written.
    pub async fn copy_to(&self, other: &Self, fleet: FleetBinding) -> Result<Vec<(&'static str, u64)>, StoreError> {
        let mut from = in_time(self.pool.begin_with(self.engine.begin_snapshot)).await?;
        let mut rows = 0;
        for table in &TABLES {
            rows += table.count(&mut from).await?;
        }
        if rows == 0 {
            return Err(StoreError::NothingToCopy);
        }
        let mut to = other.write().await?;
        // Lock the counter row of the other database, so that changes of instances there wait until the copy ends.
        if to.take_revisions(0).await? != 0 {
            return Err(StoreError::NotEmpty { table: "change_counter" });
        }
        for table in &TABLES {
            if table.count(to.connection()).await? != 0 {
                return Err(StoreError::NotEmpty { table: table.name });
            }
        }
        let revision: i64 = query(crate::feed::LATEST).fetch_one(&mut *from).await?.try_get(0)?;
        query(COUNTER).bind(revision).execute(to.connection()).await?;
        let mut copied = Vec::with_capacity(TABLES.len());
        for table in TABLES.iter().filter(|table| fleet == FleetBinding::Keep || table.name != BINDING) {
            copied.push((table.name, table.copy(&mut from, &mut to).await?));
        }
        to.commit().await?;
        Ok(copied)
    }
}

impl Table {
    async fn count(&self, on: &mut AnyConnection) -> Result<i64, StoreError> {
        let text = format!("SELECT count(*) FROM {}", self.name);
        Ok(Statement::of(sqlx::query(AssertSqlSafe(text))).fetch_one(on).await?.try_get(0)?)
    }

    async fn copy(&self, from: &mut AnyConnection, to: &mut WriteTransaction) -> Result<u64, StoreError> {
        let (name, key) = (self.name, self.key);
        let columns = self.stored().map(|column| column.name).collect::<Vec<_>>().join(", ");
        let select = format!("SELECT {columns} FROM {name} ORDER BY {key} LIMIT $1 OFFSET $2");
        let insert = self.insert_copy();
        let mut read = 0;
        loop {
            let portion = Statement::of(sqlx::query(AssertSqlSafe(select.clone()))).bind(PORTION).bind(read);
            let portion = portion.fetch_all(&mut *from).await?;
            if portion.is_empty() {
                break;
            }
            for row in &portion {
                let copy = Statement::of(sqlx::query(AssertSqlSafe(insert.clone())));
                self.bind_copy(copy, row)?.execute(to.connection()).await?;
                read += 1;
            }
        }
        let kept = self.count(to.connection()).await?;
        if kept != read || self.count(from).await? != read {
            return Err(StoreError::Other(
                format!("the copy of the table {name} is incomplete: {read} rows were read, but the copy has {kept}")
                    .into(),
            ));
        }
        Ok(u64::try_from(kept).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_table_and_column_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("launcher.db").display());
        let store = Store::open(&url).await.unwrap();
        let columns = "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c \
                       WHERE t.type = 'table' AND t.name NOT IN ('_sqlx_migrations', 'change_counter') ORDER BY 1";
        let rows = query(columns).fetch_all(&store.pool).await.unwrap();
        let there: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let named =
            TABLES.iter().flat_map(|table| table.stored().map(|column| format!("{}.{}", table.name, column.name)));
        let mut named: Vec<_> = named.collect();
        named.sort();
        assert_eq!(named, there);
        store.close().await;
    }
}
