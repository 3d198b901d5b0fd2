//! Tests of `launcher doctor`: it examines a database without changing it.

use launcher_domain::AppType;
use launcher_store::doctor::{CatalogNeeds, Examination, Schema};
use launcher_store::{Store, StoreError};
use sqlx::{AnyConnection, Connection, Executor};

use crate::support::*;

async fn told(url: &str, statement: &'static str) {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    connection.execute(statement).await.unwrap();
    connection.close().await.unwrap();
}

async fn schema(url: &str) -> Schema {
    let looked = Examination::open(url).await.unwrap();
    let schema = looked.schema().await.unwrap();
    looked.close().await;
    schema
}

#[tokio::test]
async fn database_in_use_is_examined_without_changes() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        store.bind_fleet("here").await.unwrap();
        let (first, _) = (launched(&store, "alice@example.org").await, launched(&store, "bob@example.org").await);

        let looked = Examination::open(&database.url).await.unwrap();
        assert_eq!(looked.schema().await.unwrap(), Schema::Current);
        assert_eq!(looked.bound_fleet().await.unwrap().as_deref(), Some("here"));
        let needs = looked.catalog_needs().await.unwrap();
        assert_eq!(needs, CatalogNeeds { apps: vec![AppType::Notebook], material: false });
        assert!(!looked.is_read_only().await.unwrap());
        let rows = looked.rows().await.unwrap();
        assert_eq!(rows.states.into_iter().collect::<Vec<_>>(), [("queued", 2)]);
        assert_eq!(rows.oldest_queued, Some(first.created_at));

        let before = store.feed_latest().await.unwrap();
        looked.try_to_write().await.unwrap();
        looked.close().await;
        assert_eq!(store.feed_latest().await.unwrap(), before);
        assert!(launched(&store, "alice@example.org").await.revision > before, "nothing is locked any more");
        store.close().await;
    }
}

#[tokio::test]
async fn missing_or_differing_schema_is_reported_and_left_unchanged() {
    for database in databases().await {
        let url = &database.url;
        Store::open(url).await.unwrap().close().await;
        told(url, "UPDATE _sqlx_migrations SET version = 9000 WHERE version = 1").await;
        assert_eq!(schema(url).await, Schema::Newer(9000));
        told(url, "UPDATE _sqlx_migrations SET version = 1, checksum = substr(checksum, 2) WHERE version = 9000").await;
        assert_eq!(schema(url).await, Schema::Changed(1));
        told(url, "DELETE FROM _sqlx_migrations").await;
        assert_eq!((schema(url).await, schema(url).await), (Schema::None, Schema::None));
        told(url, "DROP TABLE _sqlx_migrations").await;
        assert_eq!(schema(url).await, Schema::None);
    }
}

#[tokio::test]
async fn missing_database_file_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deeper/launcher.db");
    let refused = Examination::open(&format!("sqlite://{}", file.display())).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Open { .. }) && refused.to_string().contains("no such file"), "{refused}");
    assert!(!folder.path().join("deeper").exists());

    // An existing file that no launcher has used yet.
    let empty = folder.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    assert_eq!(schema(&format!("sqlite://{}", empty.display())).await, Schema::None);
    assert_eq!(std::fs::read(&empty).unwrap(), b"", "not even its mode is set");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn write_check_fails_while_database_is_locked() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        let mut other = AnyConnection::connect(&database.url).await.unwrap();
        let mut lock = other.begin().await.unwrap();
        lock.execute("UPDATE change_counter SET revision = revision").await.unwrap();
        let looked = Examination::open(&database.url).await.unwrap();
        let refused = looked.try_to_write().await.unwrap_err();
        assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
        lock.rollback().await.unwrap();
        looked.try_to_write().await.unwrap();
        looked.close().await;
        other.close().await.unwrap();
        store.close().await;
    }
}
