//! Test databases on the PostgreSQL server in TEST_POSTGRES.

use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

/// An empty database. Dropping this value deletes it, also when the test fails.
pub(crate) struct FreshDatabase {
    name: String,
}

/// Returns the URL of the database with this name, or the value of TEST_POSTGRES if there is no name.
fn url(name: Option<&str>) -> String {
    let server = std::env::var("TEST_POSTGRES").expect(
        "TEST_POSTGRES is missing, the URL of a PostgreSQL server: run the tests as \
         `e2e/postgres/server.sh run cargo test …`, or without the feature test-postgres",
    );
    let Some(name) = name else { return server };
    let (database, parameters) = server.split_once('?').unwrap_or((&server, ""));
    let (host, _) = database.rsplit_once('/').expect("TEST_POSTGRES names a database");
    format!("{host}/{name}?{parameters}")
}

/// Runs a statement on the server, outside all test databases.
pub(crate) async fn on_the_server(statement: String) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&url(None)).await.unwrap();
    connection.execute(AssertSqlSafe(statement)).await.unwrap();
    connection.close().await.unwrap();
}

impl FreshDatabase {
    pub(crate) async fn create() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("launcher_test_{}_{number}", std::process::id());
        on_the_server(format!("CREATE DATABASE {name} TEMPLATE template0")).await;
        Self { name }
    }

    pub(crate) fn url(&self) -> String {
        url(Some(&self.name))
    }
}

impl Drop for FreshDatabase {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // Delete the database in a separate thread, because the test's runtime is blocked during this drop.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(on_the_server(statement));
        });
        let dropped = dropping.join();
        if !std::thread::panicking() {
            dropped.expect("the database of this test can be dropped");
        }
    }
}
