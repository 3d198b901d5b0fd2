//! PostgreSQL only: outages, reconnects, silent connections, failovers and refused connections.

use std::time::Duration;

use launcher_store::{Store, StoreError};
use sqlx::{AnyConnection, Connection, Executor, Row};

use crate::proxy::Proxy;
use crate::server::on_the_server;
use crate::support::*;

/// Runs a statement in this database on a connection outside the store.
async fn from_outside(url: &str, statement: &'static str) {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    connection.execute(statement).await.unwrap();
    connection.close().await.unwrap();
}

/// Waits until this many sessions of the database wait for a lock.
async fn until_waiting(url: &str, number: i64) {
    // Use a separate session: within one transaction, PostgreSQL always returns the same list of sessions.
    let mut watcher = AnyConnection::connect(url).await.unwrap();
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let all = async { while watcher.fetch_one(waiting).await.unwrap().get::<i64, _>(0) != number {} };
    tokio::time::timeout(Duration::from_secs(120), all).await.expect("all sessions wait for a lock");
    watcher.close().await.unwrap();
}

/// Terminates all other sessions of the database, like a server shutdown.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE datname = current_database() AND pid <> pg_backend_pid()";

fn assert_unavailable<T: std::fmt::Debug>(outcome: &Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
}

#[tokio::test]
async fn store_reconnects_after_server_outage() {
    let database = postgres().await;
    let mut proxy = Proxy::new(&database.url);
    let store = Store::open(&proxy.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let row = launched(&store, "alice@example.org").await;

    proxy.shut().await;
    assert_unavailable(&store.ping().await);
    assert_unavailable(&store.launch_own(&instance("bob@example.org"), &NO_LIMITS, None).await);
    proxy.open();
    assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap(), Some(row));
    launched(&store, "bob@example.org").await;
    store.close().await;
}

#[tokio::test]
async fn unresponsive_server_fails_only_statements_in_flight() {
    let database = postgres().await;
    let proxy = Proxy::new(&database.url);
    let store = Store::open(&proxy.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let mut other = AnyConnection::connect(&database.url).await.unwrap();
    let mut lock = other.begin().await.unwrap();
    lock.execute("UPDATE change_counter SET revision = revision").await.unwrap();

    // Start as many launches as may write at once. All of them wait in the middle of a statement.
    let launches: Vec<_> = (0..4)
        .map(|number| {
            let store = store.clone();
            let draft = instance(&format!("user{number}@example.org"));
            tokio::spawn(async move { store.launch_own(&draft, &NO_LIMITS, None).await })
        })
        .collect();
    until_waiting(&database.url, 4).await;
    proxy.freeze();
    lock.rollback().await.unwrap();
    for launch in launches {
        assert_unavailable(&launch.await.unwrap());
    }
    // The pool may have several dead connections, and must replace each of them.
    for number in 0..20 {
        launched(&store, &format!("user{number}@example.org")).await;
    }
    other.close().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn terminated_sessions_fail_in_flight_statements_and_are_replaced() {
    let database = postgres().await;
    let store = Store::open(&database.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    launched(&store, "alice@example.org").await;
    from_outside(&database.url, TERMINATE).await;
    let row = launched(&store, "alice@example.org").await;

    let mut other = AnyConnection::connect(&database.url).await.unwrap();
    let mut lock = other.begin().await.unwrap();
    lock.execute("UPDATE change_counter SET revision = revision").await.unwrap();
    let draft = instance("alice@example.org");
    let terminated = async {
        until_waiting(&database.url, 1).await;
        lock.execute(TERMINATE).await.unwrap();
    };
    let (refused, ()) = tokio::join!(store.launch_own(&draft, &NO_LIMITS, None), terminated);
    assert_unavailable(&refused);
    lock.rollback().await.unwrap();
    assert_eq!(store.observe_instance(&draft.k8s_name).await.unwrap(), None);
    assert!(launched(&store, "alice@example.org").await.revision > row.revision);
    other.close().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn read_only_server_refuses_writes_and_recovers() {
    let database = postgres().await;
    let store = Store::open(&database.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let row = launched(&store, "alice@example.org").await;
    let name = database.url.split(['/', '?']).find(|part| part.starts_with("launcher_test_")).unwrap();

    on_the_server(format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    from_outside(&database.url, TERMINATE).await;
    for _ in 0..3 {
        assert_unavailable(&store.launch_own(&instance("bob@example.org"), &NO_LIMITS, None).await);
        assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap().as_ref(), Some(&row));
    }
    on_the_server(format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await;
    launched(&store, "bob@example.org").await;
    store.close().await;
}

#[tokio::test]
async fn failed_connection_is_explained_without_password() {
    let database = postgres().await;
    let with = |parameters: &str| format!("{}&password=hunter2&{parameters}", database.url);
    let nowhere = "postgres://launcher:hunter2@localhost:1/launcher";
    let wrong = [
        ("postgres://launcher:hunter2@localhost:70000/launcher".to_owned(), "cannot be read"),
        ("postgres://launcher:hun#ter2@localhost/launcher".to_owned(), "cannot be read"),
        ("postgres://launcher@localhost/launcher#hunter2".to_owned(), "#"),
        (with("pasword=hunter2"), "parameter that this program does not know"),
        (with("sslmode=allow"), "disable, prefer, require, verify-ca, verify-full"),
        (with("sslmode=verify-full&sslrootcert=/nowhere/root.crt"), "its sslrootcert cannot be read"),
        (with("sslmode=require&sslrootcert=/etc/passwd"), "verify-full"),
        (with("sslmode=require"), "TLS"),
        (with("dbname=launcher_missing"), "does not exist"),
        (with("user=launcher_nobody"), "launcher_nobody"),
        (nowhere.to_owned(), "on localhost: "),
    ];
    for (url, part) in wrong {
        let error = Store::open(&url).await.unwrap_err();
        assert!(matches!(error, StoreError::Open { .. }), "{url}: {error:?}");
        let message = error.to_string();
        assert!(message.contains(part), "{message}");
        assert!(message.contains("SERVICE_DATABASE_URL") || url == nowhere, "{message}");
        let everything = format!("{message} {error:?}");
        assert!(!everything.contains("hunter2") && !everything.contains("ter2"), "{everything}");
    }
}

#[tokio::test]
async fn missing_create_permission_is_reported() {
    let database = postgres().await;
    let role = format!("launcher_guest_{}", std::process::id());
    on_the_server(format!("CREATE ROLE {role} LOGIN")).await;
    from_outside(&database.url, "REVOKE CREATE ON SCHEMA public FROM public").await;
    let error = Store::open(&format!("{}&user={role}", database.url)).await.unwrap_err();
    on_the_server(format!("DROP ROLE {role}")).await;
    assert!(error.to_string().contains("permission denied for schema public"), "{error}");
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}

#[tokio::test]
async fn sessions_set_name_synchronous_commit_and_isolation() {
    let database = postgres().await;
    let name = database.url.split(['/', '?']).find(|part| part.starts_with("launcher_test_")).unwrap();
    on_the_server(format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    on_the_server(format!("ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")).await;
    let store = Store::open(&database.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let mut other = AnyConnection::connect(&database.url).await.unwrap();
    let named = "SELECT count(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND application_name = 'workshop-launcher'";
    assert!(other.fetch_one(named).await.unwrap().get::<i64, _>(0) >= 1);

    // A trigger stores the settings of the session that the store uses.
    for statement in [
        "CREATE TABLE seen (synchronous TEXT, isolation TEXT)",
        "CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES \
         (current_setting('synchronous_commit'), current_setting('transaction_isolation')); RETURN NULL; END $$",
        "CREATE TRIGGER look AFTER INSERT ON workshop_instances FOR EACH ROW EXECUTE FUNCTION look()",
    ] {
        other.execute(statement).await.unwrap();
    }
    launched(&store, "alice@example.org").await;
    let row = other.fetch_one("SELECT synchronous, isolation FROM seen").await.unwrap();
    let seen: (String, String) = (row.get(0), row.get(1));
    assert_eq!(seen, ("on".to_owned(), "read committed".to_owned()));
    other.close().await.unwrap();
    store.close().await;
}
