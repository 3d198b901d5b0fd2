//! Handle to the database.

use std::sync::Arc;

use sqlx::AnyPool;
use tokio::sync::Semaphore;

use crate::driver::{self, Engine};
use crate::error::StoreError;
use crate::sql::query;

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
        self.engine.read_only().is_some()
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
