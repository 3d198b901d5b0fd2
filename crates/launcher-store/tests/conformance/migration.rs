//! The next version migrates a database of this version. The test makes the migration of the next version.

use launcher_domain::Instance;
use launcher_store::{InstanceFilter, StateFilter, Store, StoreError};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, Row, SqlSafeStr};

use crate::support::*;

/// Version of the test's migration. It is greater than all versions of the program.
const NEXT_VERSION: i64 = 9999;
/// A column, an index and a table, as most versions add them.
const NEXT: &str = "ALTER TABLE workshop_instances ADD COLUMN next_column TEXT NOT NULL DEFAULT 'none'; \
     CREATE INDEX workshop_instances_next ON workshop_instances (next_column, instance_id); \
     CREATE TABLE next_table (k8s_name TEXT NOT NULL REFERENCES workshop_instances (k8s_name))";
const REVERT: &str = "DROP TABLE next_table; DROP INDEX workshop_instances_next; \
     ALTER TABLE workshop_instances DROP COLUMN next_column; DELETE FROM _sqlx_migrations WHERE version = 9999";

/// Returns the migration of the next version, without those of this version.
fn next_version() -> Migrator {
    let next = Migration::new(NEXT_VERSION, "next".into(), MigrationType::Simple, NEXT.into_sql_str(), false);
    let mut next = Migrator::with_migrations(vec![next]);
    next.set_ignore_missing(true);
    next
}

async fn instances(store: &Store) -> Vec<Instance> {
    let all = InstanceFilter { state: StateFilter::All, ..InstanceFilter::default() };
    let listed = store.instances(&admin(), &all, &EVERYTHING).await.unwrap();
    listed.into_iter().map(|listed| listed.instance).collect()
}

#[tokio::test]
async fn next_version_migrates_rows_without_loss_and_this_version_then_refuses_the_database() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let first = launched(&store, "alice@example.org").await;
        copy_instance(&database.url, &first.k8s_name, 200).await;
        let before = instances(&store).await;
        assert_eq!(before.len(), 201);
        store.close().await;

        let mut connection = AnyConnection::connect(&database.url).await.unwrap();
        next_version().run(&mut connection).await.unwrap();
        let refused = Store::open(&database.url).await.unwrap_err();
        assert!(matches!(refused, StoreError::NewerSchema { version: NEXT_VERSION }), "{refused}");
        let migrated = "SELECT count(*) FROM workshop_instances WHERE next_column = 'none'";
        let migrated: i64 = sqlx::query(migrated).fetch_one(&mut connection).await.unwrap().get(0);
        assert_eq!(migrated, 201);

        sqlx::raw_sql(REVERT).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let store = Store::open(&database.url).await.unwrap();
        assert_eq!(instances(&store).await, before);
        store.close().await;
    }
}
