//! SQLite only: file modes, a library version without a known defect, paths in the URL, and reads while another
//! connection holds the write lock.

use std::os::unix::fs::PermissionsExt;

use launcher_store::{LaunchOutcome, Store, StoreError};
use sqlx::{AnyConnection, Connection, Executor, Row};
use tempfile::TempDir;

use crate::support::{LaunchOwn as _, NO_LIMITS, alice, at, created, instance, key, launched, template};

fn fresh() -> (String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (format!("sqlite://{}", folder.path().join("launcher.db").display()), folder)
}

#[tokio::test]
async fn sqlite_version_has_wal_reset_fix() {
    let (url, _folder) = fresh();
    let store = Store::open(&url).await.unwrap();
    let mut connection = AnyConnection::connect(&url).await.unwrap();
    let row = connection.fetch_one("SELECT sqlite_version() AS version").await.unwrap();
    let version: String = row.get("version");
    let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![3, 51, 3], "SQLite {version} can corrupt a database when its write-ahead log is reset");
    let journal: String = connection.fetch_one("PRAGMA journal_mode").await.unwrap().get(0);
    assert_eq!(journal, "wal");
    connection.close().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn database_file_and_folder_have_private_modes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("da ta#1%20/ünder/launcher.db");
    let store = Store::open(&format!("sqlite://{}", path.display())).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_file_name("launcher.db-wal")), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    store.close().await;
}

#[tokio::test]
async fn failed_open_names_path_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below_a_file = file.join("launcher.db").display().to_string();
    let open = async |url: &str| Store::open(url).await.unwrap_err();

    let error = open(&format!("sqlite://{below_a_file}")).await;
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains(&below_a_file) && message.contains("may write"), "{message}");

    for url in ["mysql://localhost/", "launcher.db", "sqlite::memory:", "sqlite:", "sqlite:a.db?mode=ro"] {
        assert!(matches!(open(url).await, StoreError::Open { .. }), "{url}");
    }
    let garbage = folder.path().join("garbage.db");
    std::fs::write(&garbage, "no database at all, but long enough to have a header, as a text may have".repeat(20))
        .unwrap();
    let error = open(&format!("sqlite://{}", garbage.display())).await;
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}

/// The test holds the write lock. If one of these reads wrote, it would wait until SQLite's busy timeout and then fail.
#[tokio::test]
async fn reads_complete_while_another_connection_holds_the_write_lock() {
    let (url, _folder) = fresh();
    let store = Store::open(&url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let (used, other) = (key("key", "hash"), key("key", "other"));
    let first = created(store.launch_own(&instance("alice@example.org"), &NO_LIMITS, Some(&used)).await.unwrap());
    store.dispatch_promote_queued(1, at(10)).await.unwrap();
    launched(&store, "alice@example.org").await;
    let mut writer = AnyConnection::connect(&url).await.unwrap();
    writer.execute("BEGIN IMMEDIATE").await.unwrap();

    let before = store.launched_before(&alice(), &used).await.unwrap();
    assert!(matches!(&before, Some(LaunchOutcome::Replayed(found)) if found.k8s_name == first.k8s_name), "{before:?}");
    assert_eq!(store.launched_before(&alice(), &other).await.unwrap(), Some(LaunchOutcome::KeyReused));
    assert_eq!(store.launched_before(&alice(), &key("unused", "hash")).await.unwrap(), None);
    assert!(store.dispatch_promote_queued(1, at(20)).await.unwrap().is_empty(), "the start limit is reached");

    writer.execute("ROLLBACK").await.unwrap();
    writer.close().await.unwrap();
    store.close().await;
}
