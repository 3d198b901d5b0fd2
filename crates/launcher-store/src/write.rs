//! Write transactions. Permits limit their number. Revisions become visible in the order of the commits.

use sqlx::{Any, AnyConnection, Row, Transaction};
use tokio::sync::OwnedSemaphorePermit;

use crate::driver::ACQUIRE_TIMEOUT;
use crate::error::StoreError;
use crate::sql::{in_time, query};
use crate::store::Store;

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
}

impl WriteTransaction {
    /// Returns the connection that statements run on.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }

    /// Takes the next `count` revisions and returns the last one. With a `count` of 0, only locks the counter, which
    /// waits for concurrent changes, and returns the latest revision.
    pub(crate) async fn take_revisions(&mut self, count: i64) -> Result<i64, StoreError> {
        let row = query(TAKE_REVISIONS).bind(count).fetch_one(self.connection()).await?;
        Ok(row.try_get(0)?)
    }

    /// Commits the transaction.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        in_time(self.transaction.commit()).await
    }
}
