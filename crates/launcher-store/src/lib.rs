//! The rows of the workshop launcher. Nobody else sees SQL.
//!
//! Every read and write of an instance takes a [`Caller`](launcher_domain::Caller) or a
//! [`Scope`](launcher_domain::Scope) and puts it into the statement, so that "not yours" and "not there" are the same
//! missing row; or it is named for the loop that may do without (`dispatch_…`, `observe_…`). A launch carries its owner
//! in the instance itself, and a change needs the row that was read before.
//!
//! There is one text for each statement, in the SQL that SQLite and PostgreSQL share; what differs between engines is in
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

pub use copy::FleetOfCopy;
pub use dispatch::Pending;
pub use error::StoreError;
pub use feed::Changes;
pub use launch::{IdempotencyKey, LaunchOutcome, LaunchRules};
pub use order::{NotAPlace, Order, Place, SortBy};
pub use overview::{EndedCount, LaunchCount, LiveCount};
pub use page::{ActivityFilter, InstanceFilter, Page, StateFilter};
pub use rows::{Listed, LoggedActivity};

/// The database. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Store {
    pool: AnyPool,
    engine: &'static driver::Engine,
    /// Turns of writers, given in the order in which they were asked for.
    writers: Arc<Semaphore>,
}

impl Store {
    /// Opens the database that `url` names, creates its file where there is none, and brings its schema up to date.
    ///
    /// `sqlite:///absolute/path.db` or `sqlite:relative/path.db`; the path is taken as it is written. A new file and its
    /// folder are readable by their owner alone. `postgres://user:password@host/database` names a database that exists.
    ///
    /// # Errors
    /// [`StoreError::Open`] when the URL, the path or the server will not do, [`StoreError::NewerSchema`] and
    /// [`StoreError::ChangedSchema`] when another version of the program wrote the database,
    /// [`StoreError::Unavailable`] when somebody holds the lock of its file.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (pool, engine) = driver::open(url).await?;
        Ok(Self::new(pool, engine))
    }

    fn new(pool: AnyPool, engine: &'static driver::Engine) -> Self {
        Self { pool, engine, writers: Arc::new(Semaphore::new(engine.writers)) }
    }

    /// Opens a database as [`Store::open`] does, and makes no new one.
    ///
    /// # Errors
    /// As [`Store::open`], and [`StoreError::Open`] when there is no such file.
    pub async fn open_existing(url: &str) -> Result<Self, StoreError> {
        driver::must_exist(url)?;
        Self::open(url).await
    }

    /// True where several launchers may use the database at once, also of different versions during an upgrade.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.read_only().is_some()
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.feed_latest().await.map(|_| ())
    }

    /// Whether nothing is under way: no connection is in use, and none is being made. Where a test decides the time, it
    /// passes only then, because the threads of the database know nothing of that time.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        usize::try_from(self.pool.size()).is_ok_and(|connections| connections == self.pool.num_idle())
    }

    /// Waits for what is under way, and closes all connections. Whatever comes later is [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
