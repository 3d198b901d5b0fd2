//! Opening and reopening of databases, refused databases, locks, and unreadable values.

use launcher_domain::InstanceState;
use launcher_domain::Scope;
use launcher_store::{Store, StoreError};
use sqlx::{Any, AnyConnection, AssertSqlSafe, Connection, Executor, Transaction};
use tokio::task::JoinSet;

use crate::support::*;

async fn connect(url: &str) -> AnyConnection {
    AnyConnection::connect(url).await.unwrap()
}

/// Takes the write lock on a connection outside the store. Blocks every write until the transaction ends.
async fn lock(connection: &mut AnyConnection) -> Transaction<'_, Any> {
    let mut lock = connection.begin().await.unwrap();
    lock.execute("UPDATE change_counter SET revision = revision").await.unwrap();
    lock
}

#[tokio::test]
async fn reopened_database_keeps_its_rows() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        store.close().await;
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))), "it is closed");

        let store = Store::open(&database.url).await.unwrap();
        store.ping().await.unwrap();
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row.clone()));
        assert_eq!(store.template(None, row.template_id).await.unwrap(), Some(template(1)));
        assert!(launched(&store, "bob@example.org").await.revision > row.revision);
        store.close().await;
    }
}

#[tokio::test]
async fn new_database_can_be_opened_concurrently() {
    for database in databases().await {
        let open = || Store::open(&database.url);
        let (first, second, third) = tokio::join!(open(), open(), open());
        for store in [first, second, third] {
            let store = store.unwrap();
            store.ping().await.unwrap();
            store.close().await;
        }
    }
}

#[tokio::test]
async fn newer_or_changed_schema_is_refused() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.close().await;
        let mut connection = connect(&database.url).await;
        let copy = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                    SELECT 9000, description, success, checksum, execution_time FROM _sqlx_migrations WHERE version = 1";
        connection.execute(copy).await.unwrap();
        let refused = Store::open(&database.url).await.unwrap_err();
        assert!(matches!(refused, StoreError::NewerSchema { version: 9000 }), "{refused}");
        assert!(refused.to_string().contains("run the newer version"), "{refused}");

        connection.execute("DELETE FROM _sqlx_migrations WHERE version = 9000").await.unwrap();
        let other = sqlx::query("UPDATE _sqlx_migrations SET checksum = $1 WHERE version = 1").bind(vec![0_u8]);
        other.execute(&mut connection).await.unwrap();
        let refused = Store::open(&database.url).await.unwrap_err();
        assert!(matches!(refused, StoreError::ChangedSchema { version: 1 }), "{refused}");
        connection.close().await.unwrap();
    }
}

#[tokio::test]
async fn unreadable_value_error_names_table_row_and_column() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut connection = connect(&database.url).await;
        for (column, value) in [("settings", "{"), ("owner_email", "nobody"), ("end_reason", "bored"), ("reason", "[]")]
        {
            let table = if column == "settings" { "template_settings" } else { "workshop_instances" };
            let damage = format!("UPDATE {table} SET {column} = '{value}'");
            connection.execute(AssertSqlSafe(damage)).await.unwrap();
            let error = store.observe_instance(&row.k8s_name).await.unwrap_err();
            let StoreError::Corrupt { table: named_table, row: id, column: named } = error else { panic!("{error}") };
            assert_eq!((named_table, id, named), ("workshop_instances", row.instance_id, column));
            let changes = store.feed_since(Scope::Everyone, 0, 10).await.unwrap();
            assert_eq!(
                (changes.listed, changes.upto),
                (Vec::new(), row.revision),
                "a corrupt row does not stop the loops"
            );
            let mended = match column {
                "settings" => serde_json::to_string(&row.settings).unwrap(),
                "owner_email" => row.owner_email.to_string(),
                _ => String::new(),
            };
            let mend = format!("UPDATE {table} SET {column} = NULLIF($1, '')");
            sqlx::query(AssertSqlSafe(mend)).bind(mended).execute(&mut connection).await.unwrap();
        }
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row));
        connection.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn locked_database_refuses_writes_and_serves_reads() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut other = connect(&database.url).await;
        let lock = lock(&mut other).await;

        let draft = instance("alice@example.org");
        let alice = alice();
        let (refused, read) =
            tokio::join!(store.launch_own(&draft, &NO_LIMITS, None), store.instance(&alice, &row.k8s_name));
        assert_eq!(read.unwrap().unwrap().instance, row);
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        lock.rollback().await.unwrap();
        assert_eq!(store.observe_instance(&draft.k8s_name).await.unwrap(), None);
        created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        other.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn waiting_writers_do_not_block_readers() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut other = connect(&database.url).await;
        let lock = lock(&mut other).await;

        let mut launches = JoinSet::new();
        for _ in 0..10 {
            let store = store.clone();
            launches.spawn(async move { store.launch_own(&instance("bob@example.org"), &NO_LIMITS, None).await });
        }
        for _ in 0..20 {
            assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap().as_ref(), Some(&row));
        }
        assert!(
            launches.try_join_next().is_none(),
            "the launches still wait for the lock, and the reads did not wait for the launches"
        );
        lock.rollback().await.unwrap();
        for launch in launches.join_all().await {
            created(launch.unwrap());
        }
        other.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn cancelled_launch_releases_its_locks() {
    on_every_engine(async |store| {
        for steps in 0..60 {
            let draft = instance("alice@example.org");
            // Each iteration cancels the launch one step later: at the `launch_gate` row, between the statements, or at
            // the commit.
            let mut launch = Box::pin(store.launch_own(&draft, &NO_LIMITS, None));
            for _ in 0..steps {
                if futures_util::poll!(&mut launch).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        let row = launched(&store, "alice@example.org").await;
        assert_eq!(row.state, InstanceState::Queued);
    })
    .await;
}
