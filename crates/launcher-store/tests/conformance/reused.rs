//! PostgreSQL databases with the current schema, which tests use one after the other: to create and to drop a database
//! takes longer than most tests.

use std::sync::{Arc, Mutex, Weak};

use sqlx::{AnyConnection, Connection, Executor};

use crate::server::FreshDatabase;

/// Databases that no test uses now. They are deleted when the last test that runs ends.
type Free = Mutex<Vec<FreshDatabase>>;

static FREE: Mutex<Weak<Free>> = Mutex::new(Weak::new());

/// Removes all rows, except those of the migrations.
const EMPTY: &str = "DO $$ BEGIN
        EXECUTE (SELECT 'TRUNCATE ' || string_agg(tablename, ', ') FROM pg_tables
            WHERE schemaname = 'public' AND tablename NOT IN ('_sqlx_migrations', 'change_counter'));
        UPDATE change_counter SET revision = 0;
    END $$";

/// A database without rows. Dropping this value deletes the database, unless it was given back.
pub(crate) struct Reused {
    database: FreshDatabase,
    free: Arc<Free>,
}

impl Reused {
    pub(crate) async fn take() -> Self {
        let free = {
            let mut shared = FREE.lock().unwrap();
            let free = shared.upgrade().unwrap_or_default();
            *shared = Arc::downgrade(&free);
            free
        };
        let left = free.lock().unwrap().pop();
        let database = match left {
            Some(database) => database,
            None => FreshDatabase::create().await,
        };
        Self { database, free }
    }

    pub(crate) fn url(&self) -> String {
        self.database.url()
    }

    /// Empties the database, for a later test. A test that changes the schema must not give its database back.
    pub(crate) async fn give_back(self) {
        let mut connection = AnyConnection::connect(&self.url()).await.unwrap();
        connection.execute(EMPTY).await.unwrap();
        connection.close().await.unwrap();
        self.free.lock().unwrap().push(self.database);
    }
}
