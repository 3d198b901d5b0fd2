//! Handle to the database, its write transactions, and its binding to one fleet.

use std::sync::Arc;

use sqlx::{Any, AnyConnection, AnyPool, Row, Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::driver::{self, ACQUIRE_TIMEOUT};
use crate::engine::Engine;
use crate::error::StoreError;
use crate::sql::{Statement, in_time, query};

/// Default maximum of instances that one search or count examines. It bounds their time over a long history.
const MAX_EXAMINED: i64 = 20_000;

/// Handle to the database. Clones share its connection pool.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: AnyPool,
    pub(crate) engine: &'static Engine,
    /// Write permits, granted in the order of the requests.
    pub(crate) writers: Arc<Semaphore>,
    /// Maximum number of instances that one search or count examines.
    pub(crate) max_examined: i64,
}

impl Store {
    /// Opens the database at `url`, creates a missing SQLite file, and applies pending migrations.
    ///
    /// `sqlite:///absolute/path.db` or `sqlite:relative/path.db`; the path is used verbatim. A new file and its folder
    /// are accessible to their owner only. `postgres://user:password@host/database` names an existing database.
    ///
    /// # Errors
    /// [`StoreError::Open`] when the URL, the path or the server is unusable, [`StoreError::NewerSchema`] and
    /// [`StoreError::ChangedSchema`] when another version of the program wrote the database,
    /// [`StoreError::Unavailable`] when another process holds the lock of its file.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (pool, engine) = driver::open(url).await?;
        Ok(Self::new(pool, engine))
    }

    pub(crate) fn new(pool: AnyPool, engine: &'static Engine) -> Self {
        Self { pool, engine, writers: Arc::new(Semaphore::new(engine.writers)), max_examined: MAX_EXAMINED }
    }

    /// Changes the maximum number of instances that one search or count examines. The default is 20,000.
    #[must_use]
    pub fn examining_at_most(self, instances: u32) -> Self {
        Self { max_examined: i64::from(instances.max(1)), ..self }
    }

    /// Opens a database like [`Store::open`], but never creates the file.
    ///
    /// # Errors
    /// The errors of [`Store::open`], and [`StoreError::Open`] when the file does not exist.
    pub async fn open_existing(url: &str) -> Result<Self, StoreError> {
        driver::must_exist(url)?;
        Self::open(url).await
    }

    /// True when several launchers may use the database at once. During an upgrade their versions may differ.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.read_only.is_some()
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.feed_latest().await.map(|_| ())
    }

    /// True while no connection is in use or being opened. Tests with a simulated clock advance the clock only then,
    /// because the threads of the database do not follow that clock.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        usize::try_from(self.pool.size()).is_ok_and(|connections| connections == self.pool.num_idle())
    }

    /// Waits for connections in use, then closes all. Later calls return [`StoreError::Unavailable`].
    pub async fn close(&self) {
        if let Some(statement) = self.engine.before_close
            && let Err(error) = query(statement).execute(&self.pool).await
        {
            tracing::warn!(%error, "database log not written into the file before the end");
        }
        self.pool.close().await;
    }
}

/// Takes revisions from the counter row. The row stays locked until the transaction ends, so revisions become visible
/// in order: a reader that sees revision n also sees all earlier ones.
pub(crate) const TAKE_REVISIONS: &str =
    "UPDATE change_counter SET revision = revision + $1 WHERE counter_id = 1 RETURNING revision";

/// Write transaction. Rolls back if dropped without [`WriteTransaction::commit`].
pub(crate) struct WriteTransaction {
    // Declared before the permit: the transaction is rolled back before the permit is released.
    transaction: Transaction<'static, Any>,
    _permit: OwnedSemaphorePermit,
}

impl Store {
    /// Waits for a write permit and begins a transaction.
    pub(crate) async fn write(&self) -> Result<WriteTransaction, StoreError> {
        let unavailable = |error: Box<dyn std::error::Error + Send + Sync>| StoreError::Unavailable(error);
        let permit = tokio::time::timeout(ACQUIRE_TIMEOUT, self.writers.clone().acquire_owned())
            .await
            .map_err(|elapsed| unavailable(elapsed.into()))?
            .map_err(|closed| unavailable(closed.into()))?;
        let transaction = in_time(self.pool.begin_with(self.engine.begin_write)).await?;
        Ok(WriteTransaction { transaction, _permit: permit })
    }

    /// Runs one statement in a transaction. Returns the number of changed rows.
    pub(crate) async fn execute(&self, statement: Statement) -> Result<u64, StoreError> {
        let mut write = self.write().await?;
        let changed = statement.execute(write.connection()).await?.rows_affected();
        write.commit().await?;
        Ok(changed)
    }
}

impl WriteTransaction {
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }

    /// Takes the next `count` revisions and returns the last one. With a `count` of 0, only locks the counter, which
    /// waits for concurrent changes, and returns the latest revision.
    pub(crate) async fn take_revisions(&mut self, count: i64) -> Result<i64, StoreError> {
        let row = query(TAKE_REVISIONS).bind(count).fetch_one(self.connection()).await?;
        Ok(row.try_get(0)?)
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        in_time(self.transaction.commit()).await
    }
}

const BOUND: &str = "SELECT fleet FROM fleet_binding WHERE binding_id = 1";
const BIND: &str = "INSERT INTO fleet_binding (binding_id, fleet) VALUES (1, $1) ON CONFLICT (binding_id) DO NOTHING";

impl Store {
    /// Returns the identity of the fleet to which the rows are bound; `None` if they are not bound.
    pub async fn bound_fleet(&self) -> Result<Option<String>, StoreError> {
        let row = query(BOUND).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get("fleet")).transpose()?)
    }

    /// Binds the rows of this database to a fleet, unless they are already bound. Returns the identity of the fleet to
    /// which they are bound now.
    pub async fn bind_fleet(&self, fleet: &str) -> Result<String, StoreError> {
        let mut write = self.write().await?;
        query(BIND).bind(fleet.to_owned()).execute(write.connection()).await?;
        let bound = query(BOUND).fetch_one(write.connection()).await?.try_get("fleet")?;
        write.commit().await?;
        Ok(bound)
    }
}
