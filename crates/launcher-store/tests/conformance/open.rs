//! Opening, reopening, and being refused; locks and damage.

use std::os::unix::fs::PermissionsExt;

use launcher_domain::InstanceState;
use launcher_store::{Store, StoreError};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor, Row};
use tokio::task::JoinSet;

use crate::support::*;

async fn connect(url: &str) -> AnyConnection {
    AnyConnection::connect(url).await.unwrap()
}

#[tokio::test]
async fn reopening_keeps_everything() {
    for database in databases() {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1)).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        store.close().await;
        assert!(matches!(store.ping().await, Err(StoreError::Unavailable(_))), "it is closed");

        let store = Store::open(&database.url).await.unwrap();
        store.ping().await.unwrap();
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row.clone()));
        assert_eq!(store.template(row.template_id).await.unwrap(), Some(template(1)));
        assert!(launched(&store, "bob@example.org").await.revision > row.revision);
        store.close().await;
    }
}

#[tokio::test]
async fn a_new_database_can_be_opened_by_several_at_once() {
    for database in databases() {
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
async fn a_newer_or_a_different_schema_is_refused() {
    for database in databases() {
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
        connection.execute("UPDATE _sqlx_migrations SET checksum = X'00' WHERE version = 1").await.unwrap();
        let refused = Store::open(&database.url).await.unwrap_err();
        assert!(matches!(refused, StoreError::ChangedSchema { version: 1 }), "{refused}");
        connection.close().await.unwrap();
    }
}

#[tokio::test]
async fn an_unreadable_value_names_its_table_row_and_column() {
    for database in databases() {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1)).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut connection = connect(&database.url).await;
        for (column, value) in [("settings", "{"), ("owner_email", "nobody"), ("end_reason", "bored"), ("reason", "[]")]
        {
            let damage = format!("UPDATE workshop_instances SET {column} = '{value}'");
            connection.execute(AssertSqlSafe(damage)).await.unwrap();
            let error = store.observe_instance(&row.k8s_name).await.unwrap_err();
            let StoreError::Corrupt { table, row: id, column: named } = error else { panic!("{error}") };
            assert_eq!((table, id, named), ("workshop_instances", row.instance_id, column));
            let mended = match column {
                "settings" => serde_json::to_string(&row.settings).unwrap(),
                "owner_email" => row.owner_email.to_string(),
                _ => String::new(),
            };
            let mend = format!("UPDATE workshop_instances SET {column} = NULLIF($1, '')");
            sqlx::query(AssertSqlSafe(mend)).bind(mended).execute(&mut connection).await.unwrap();
        }
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row));
        connection.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn sqlite_is_recent_enough_to_keep_its_journal_whole() {
    for database in databases() {
        let store = Store::open(&database.url).await.unwrap();
        let mut connection = connect(&database.url).await;
        let row = connection.fetch_one("SELECT sqlite_version() AS version").await.unwrap();
        let version: String = row.get("version");
        let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
        assert!(parts >= vec![3, 51, 3], "SQLite {version} can corrupt a database when its write-ahead log is reset");
        let journal: String = connection.fetch_one("PRAGMA journal_mode").await.unwrap().get(0);
        assert_eq!(journal, "wal");
        connection.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn a_lock_from_outside_stops_writes_with_unavailable_and_no_reads() {
    for database in databases() {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1)).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut other = connect(&database.url).await;
        let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();

        let draft = instance("alice@example.org");
        let alice = alice();
        let (refused, read) =
            tokio::join!(store.launch(&draft, &NO_LIMITS, None), store.instance(&alice, &row.k8s_name));
        assert_eq!(read.unwrap().unwrap().instance, row);
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        lock.rollback().await.unwrap();
        assert_eq!(store.observe_instance(&draft.k8s_name).await.unwrap(), None);
        created(store.launch(&draft, &NO_LIMITS, None).await.unwrap());
        other.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn writers_that_wait_for_a_lock_keep_no_reader_waiting() {
    for database in databases() {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1)).await.unwrap();
        let row = launched(&store, "alice@example.org").await;
        let mut other = connect(&database.url).await;
        let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();

        let mut launches = JoinSet::new();
        for _ in 0..30 {
            let store = store.clone();
            launches.spawn(async move { store.launch(&instance("bob@example.org"), &NO_LIMITS, None).await });
        }
        for _ in 0..100 {
            assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap().as_ref(), Some(&row));
        }
        assert!(launches.try_join_next().is_none(), "they wait, and the reads did not wait for them");
        lock.rollback().await.unwrap();
        for launch in launches.join_all().await {
            created(launch.unwrap());
        }
        other.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn a_launch_that_is_given_up_half_way_leaves_nothing_locked() {
    on_every_engine(async |store| {
        for steps in 0..60 {
            let draft = instance("alice@example.org");
            // Given up after one step more each time: at the gate, between the statements, at the commit.
            let mut launch = Box::pin(store.launch(&draft, &NO_LIMITS, None));
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

#[tokio::test]
async fn the_file_and_its_folder_are_made_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("da ta#1%20/ünder/launcher.db");
    let store = Store::open(&format!("sqlite://{}", path.display())).await.unwrap();
    store.create_template(&template(1)).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_file_name("launcher.db-wal")), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    store.close().await;
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_says_where_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below_a_file = file.join("launcher.db").display().to_string();
    let open = async |url: &str| Store::open(url).await.unwrap_err();

    let error = open(&format!("sqlite://{below_a_file}")).await;
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(&below_a_file) && message.contains("may write"), "{message}");

    let error = open("postgres://user:secret@localhost/launcher").await.to_string();
    assert!(error.contains("no PostgreSQL driver") && !error.contains("secret"), "{error}");
    for url in ["mysql://localhost/", "launcher.db", "sqlite::memory:", "sqlite:", "sqlite:a.db?mode=ro"] {
        assert!(matches!(open(url).await, StoreError::Open { .. }), "{url}");
    }
    let garbage = folder.path().join("garbage.db");
    std::fs::write(&garbage, "no database at all, but long enough to have a header, as a text may have".repeat(20))
        .unwrap();
    let error = open(&format!("sqlite://{}", garbage.display())).await;
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}
