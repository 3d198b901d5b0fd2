//! Persistence of the workshop launcher. Other crates see no SQL.
//!
//! Every read and write of an instance takes a [`Caller`](launcher_domain::Caller) or a
//! [`Scope`](launcher_domain::Scope) and puts it into the statement. "Not yours" and "not there" are therefore the same
//! missing row. Functions without one are named for the loop that may call them (`dispatch_…`, `observe_…`). A launch
//! carries its owner in the instance itself, and a change needs the row that was read before.
//!
//! Each statement has one text, in the SQL that SQLite and PostgreSQL share. Differences between engines are in
//! `driver.rs` and its folder.

mod activities;
mod copy;
mod dispatch;
pub mod doctor;
mod driver;
mod error;
mod feed;
mod fleet;
mod instances;
mod launch;
mod observe;
mod order;
mod overview;
mod page;
#[cfg(test)]
mod plans;
mod rows;
mod settings;
mod sql;
mod templates;
mod write;

use std::sync::Arc;

use sqlx::AnyPool;
use tokio::sync::Semaphore;

pub use copy::FleetBinding;
pub use dispatch::Pending;
pub use error::StoreError;
pub use feed::Changes;
pub use launch::{IdempotencyKey, LaunchOutcome, LaunchRules};
pub use order::{Cursor, InvalidCursor, SortBy, SortOrder};
pub use overview::{EndedCount, LaunchCount, LiveCount};
pub use page::{ActivityFilter, InstanceFilter, Page, StateFilter};
pub use rows::{ListedInstance, LoggedActivity};

/// Handle to the database. Clones share its connection pool.
#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
    engine: &'static driver::Engine,
    /// Write permits, granted in the order of the requests.
    writers: Arc<Semaphore>,
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

    fn new(pool: AnyPool, engine: &'static driver::Engine) -> Self {
        Self { pool, engine, writers: Arc::new(Semaphore::new(engine.writers)) }
    }

    /// Opens a database as [`Store::open`] does, but never creates the file.
    ///
    /// # Errors
    /// As [`Store::open`], and [`StoreError::Open`] when there is no such file.
    pub async fn open_existing(url: &str) -> Result<Self, StoreError> {
        driver::must_exist(url)?;
        Self::open(url).await
    }

    /// True when several launchers may use the database at once, also of different versions during an upgrade.
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

    /// True while no connection is in use or being opened. Tests with a simulated clock advance it only then, because
    /// the database threads do not follow that clock.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        usize::try_from(self.pool.size()).is_ok_and(|connections| connections == self.pool.num_idle())
    }

    /// Waits for connections in use, then closes all. Later calls return [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
